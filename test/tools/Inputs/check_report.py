"""What `skim compile --report --json` prints agrees with itself: check_report.py FILE KEY=VALUE..."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
COSTS = ("flops", "exponentials", "bytes_read", "bytes_written", "scratch_bytes")
for bound in ("at_most", "at_least"):
    for cost in COSTS:
        assert report["total"][bound][cost] == sum(kernel[bound][cost] for kernel in report["kernels"])
for kernel in [*report["kernels"], report["total"]]:
    assert kernel["exact"] == (kernel["at_most"] == kernel["at_least"])
    assert all(0 <= kernel["at_least"][cost] <= kernel["at_most"][cost] for cost in COSTS)
assert all(kernel["line"] > 0 and kernel["work_items"] > 0 for kernel in report["kernels"])
assert report["kernels"][-1]["name"] == "attention"
assert sum(buffer["bytes"] for buffer in report["workspace"]["buffers"]) <= report["workspace"]["bytes"]
invariance = report["chunk_invariance"]
assert report["batch_invariant"] is True
assert invariance["holds"] == (not invariance["broken_by"]) == (invariance["multiple"] is not None)
for remark in [*invariance["broken_by"], *report["warnings"]]:
    assert remark["line"] > 0 and remark["column"] > 0 and isinstance(remark["notes"], list)
for given in sys.argv[2:]:
    key, value = given.split("=")
    found = report
    for part in key.split("."):
        found = found[int(part) if part.lstrip("-").isdigit() else part]
    assert json.dumps(found) == value, f"{key} is {json.dumps(found)}, not {value}"
print("all agrees")
