"""Each top folder explains itself, files stay short, and each pass has its test."""

import os

import tree

LONGEST, LONGEST_WITH_REASON = 400, 600
SOURCES = (*tree.CPP, ".td", ".py", ".cmake")

# Files of more than 400 lines, each with the reason why it is one subject.
REASONS = {}

paths = tree.files()
findings = []

for folder in sorted({p.split("/")[0] for p in paths if "/" in p and not p.startswith(".")}):
    if f"{folder}/README.md" not in paths:
        findings.append(f"{folder}/: has no README.md")

for path in paths:
    if path.endswith(SOURCES) or path.endswith("CMakeLists.txt"):
        lines = tree.read(path).count("\n")
        if lines > (LONGEST_WITH_REASON if path in REASONS else LONGEST):
            findings.append(f"{path}: {lines} lines")
        elif lines <= LONGEST and path in REASONS:
            findings.append(f"{path}: needs no reason any more, {lines} lines")
findings += [f"{path}: has a reason and does not exist" for path in REASONS if path not in paths]

# Folders of passes, and where their tests stand. Below passes/ a pass is a file that defines its flag, others are
# helpers of it.
TESTS_OF_PASSES = {"passes": "test/passes", "codegen/cpu/passes": "test/tile/cpu",
                   "codegen/nvvm/passes": "test/tile/nvvm"}
for path in paths:
    folder, name = os.path.split(path)
    if folder in TESTS_OF_PASSES and name.endswith(".cpp") and "GEN_PASS_DEF_" in tree.read(path):
        test = f"{TESTS_OF_PASSES[folder]}/{name[:-4]}.mlir"
        if test not in paths:
            findings.append(f"{path}: has no {test}")
for folder in TESTS_OF_PASSES:
    if not any(os.path.dirname(p) == folder for p in paths):
        findings.append(f"{folder}/: holds no passes")

tree.report(findings, len(paths))
