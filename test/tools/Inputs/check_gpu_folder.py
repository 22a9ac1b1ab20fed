"""What `skim bench gpu --keep` wrote is whole, and has the kernel of each row: check_gpu_folder.py FOLDER"""

import ast
import ctypes
import json
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
for script in folder.glob("*.py"):
    ast.parse(script.read_text(encoding="utf-8"))
scripts = {path.name for path in folder.glob("*.py")}
assert scripts == {"suite.py", "rows.py", "timing.py", "kernels.py", "startup.py", "torch_gpu.py", "flashinfer_gpu.py"}, scripts

kernels = {path.stem for path in folder.glob("*.ptx")}
for name in kernels:
    plan = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    assert plan["signature"]["output"] == "bf16", name
    text = (folder / f"{name}.ptx").read_text(encoding="utf-8")
    assert ".target sm_90a" in text and ".entry attention" in text, name
    dim = int(re.search(r"-d(\d+)", name).group(1))
    assert plan["signature"]["head_dim"] == dim, name

# The rows without what they import, which this interpreter need not have.
source = (folder / "rows.py").read_text(encoding="utf-8").replace("import torch\n", "")
assert "import torch" not in source.split("def ")[0]


class Anything:
    def __getattr__(self, name):
        return lambda *arguments, **named: Anything()

    def manual_seed(self, seed):
        return self

    def __iter__(self):
        return iter([0.5] * 64)


names = {"torch": Anything(), "__name__": "rows"}
sys.modules["rows"] = type(sys)("rows")
exec(compile(source, "rows.py", "exec"), names)  # the file is our own
rows = names["ROWS"]
assert {row.kernel for row in rows} == kernels, {row.kernel for row in rows} ^ kernels
assert len({row.name for row in rows}) == len(rows)

library = ctypes.CDLL(str(folder / "libskim_bench_runtime.so"))
for function in ("message", "load", "unload", "plan", "workspace_bytes", "forget", "run", "status"):
    getattr(library, "skim_bench_" + function)
print(f"{len(kernels)} kernels, {len(rows)} rows, all agrees")
