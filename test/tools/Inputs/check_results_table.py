"""The table and the picture of a kept result say what it says, and nothing where there is none: check_results_table.py BENCH TREE"""

import json
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree

bench, tree = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
shutil.rmtree(tree, ignore_errors=True)
for folder in ("bench/results", "docs"):
    (tree / folder).mkdir(parents=True)
for script in ("results_table.py", "record.py"):
    shutil.copy(bench / script, tree / "bench")
BEGIN, END = "<!-- The table of the GPU suite: bench/results_table.py writes it. -->", "<!-- The end of that table. -->"
readme, picture = tree / "README.md", tree / "docs" / "gpu.svg"
EMPTY = f"# Title\n\n{BEGIN}\n{END}\n\nafter\n"
readme.write_text(EMPTY)


def run(*arguments):
    return subprocess.run([sys.executable, tree / "bench" / "results_table.py", *arguments], capture_output=True, text=True,
                          check=False)


def refused(what, *arguments, text=EMPTY):
    result = run(*arguments)
    assert result.returncode == 1 and not result.stdout, what
    assert readme.read_text() == text and not picture.exists(), what
    print(f"{what}: {result.stderr.strip()}")


def result(rows, date):
    return {"date": date, "device": "GPU <1>", "commit": "abc", "command": "skim bench gpu",
            "result": {"driver": "1.2", "torch": "3.4", "mode": "sustained", "rounds": 3, "rows": rows}}


file = tree / "result.json"
refused("without a result")
file.write_text("{")
refused("no JSON", file)
file.write_text(json.dumps({**result([], "2026-01-02 03:04 UTC"), "result": {}}))
refused("another JSON", file)

ROWS = [
    {"row": "fast", "flops": 1e12, "error": 2e-3, "milliseconds": {"skim": 2.0, "cudnn": 3.0}, "tflops": {"skim": 500.0, "cudnn": 333.3},
     "absent": ["flashinfer"]},
    {"row": "false", "flops": 1e12, "error": 1.0, "milliseconds": {"skim": 1.0, "cudnn": 4.0}, "tflops": {"skim": 1000.0, "cudnn": 250.0}},
    {"row": "ended", "failed": {"skim": "out of memory"}},
]
file.write_text(json.dumps(result(ROWS, "2026-01-02 03:04 UTC")))
readme.write_text("# Title\n")
refused("without marks", file, text="# Title\n")
readme.write_text(EMPTY)
for _ in range(2):  # again, it gives the same
    assert run(file).returncode == 0
    text = readme.read_text()
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert lines == ["| case | Skim | cuDNN |", "| --- | ---: | ---: |", "| fast | 2.00 ms, 500 | 3.00 ms, 333 (1.50x) |",
                     "| false | wrong result | 4.00 ms, 250 |", "| ended | failed | - |"], lines
    assert "first kernel" not in text
    assert text.startswith(f"# Title\n\n{BEGIN}\n") and text.endswith(f"{END}\n\nafter\n") and "2026-01-02-0304-gpu.json" in text
drawn = [element.text for element in xml.etree.ElementTree.parse(picture).iter() if element.tag.endswith("text")]
assert {"fast", "false", "ended", "500", "333", "250", "TFLOP/s, GPU <1>"} <= set(drawn) and "1000" not in drawn, drawn

# How long a first kernel takes stands under the table.
timed = result(ROWS, "2026-01-02 03:04 UTC")
timed["result"]["startup"] = {"medians": {"cold": 439.4, "cache": 1.46, "flex": 1806.0}}
file.write_text(json.dumps(timed))
assert run(file).returncode == 0
text = readme.read_text()
assert ("| failed | - |\n\nA first kernel in a fresh process, median: compiled 439 ms, from the disk cache 1.5 ms, and, beside it, "
        "FlexAttention's first call under `torch.compile` 1806 ms.\n\n" + END) in text, text

# The newest counts, wherever it comes from.
file.write_text(json.dumps(result(ROWS[:1], "2025-01-02 03:04 UTC")))
assert run(file).returncode == 0 and readme.read_text() == text
assert len(list((tree / "bench" / "results").iterdir())) == 2
print("all agrees")
