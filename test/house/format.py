"""Every C++ file is as clang-format 22 writes it: format.py CLANG_FORMAT."""

import subprocess
import sys

import tree

paths = tree.files(*tree.CPP)
result = subprocess.run([sys.argv[1], "--dry-run", "--Werror", "--style=file", *paths],
                        cwd=tree.ROOT, capture_output=True, text=True, check=False)
findings = [line for line in result.stderr.splitlines() if ": error: " in line]
if result.returncode and not findings:
    findings = [result.stderr or "clang-format failed without a word"]
tree.report(findings, len(paths))
