"""Every numbered constraint of the dialect reference is violated in a test, under its label.

usage: constraint_labels.py REFERENCE.md INVALID.mlir"""

import re
import sys


def labels(path):
    with open(path, encoding="utf-8") as file:
        return set(re.findall(r"\b[a-z_]+_c\d+\b", file.read()))


stated, violated = (labels(path) for path in sys.argv[1:])
for label in sorted(stated - violated):
    print(f"{label} is stated and no test violates it")
for label in sorted(violated - stated):
    print(f"{label} is violated in a test and not stated")
print(f"{len(stated)} constraints stated, {len(violated)} violated")
sys.exit(not stated or stated != violated)
