"""Compares the names that the libraries export to C with the kept list, and the list with the headers:
symbols.py NM SOURCES LIST LIBRARY..."""

import glob
import re
import subprocess
import sys

nm, sources, kept_list, *libraries = sys.argv[1:]
listed = [line for line in open(kept_list, encoding="utf-8").read().splitlines() if line and not line.startswith("#")]

exported = set()
for library in libraries:
    lines = subprocess.run([nm, "--extern-only", "--defined-only", library], capture_output=True, text=True, check=True)
    for line in lines.stdout.splitlines():
        parts = line.split()
        # Mangled names are C++, which makes no promise across versions.
        if len(parts) == 3 and not parts[2].startswith(("_Z", "DW.ref", "__")):
            exported.add(parts[2])

findings = [f"{name}: is exported and not in {kept_list}" for name in sorted(exported - set(listed))]
findings += [f"{name}: is in {kept_list} and not exported" for name in sorted(set(listed) - exported)]
if listed != sorted(set(listed)):
    findings.append(f"{kept_list}: expected names in order, each once")

# Functions of the headers are exported, and what is exported is in a header or is called by generated code.
declared = set()
for header in glob.glob(f"{sources}/runtime/include/skim/*.h") + glob.glob(f"{sources}/codegen/include/skim/*.h"):
    text = open(header, encoding="utf-8").read()
    if 'extern "C"' in text:
        declared |= set(re.findall(r"^(?:\w[\w *]*[ *])?(skim_\w+)\(", text, re.M))
findings += [f"{name}: is declared and not exported" for name in sorted(declared - exported)]
called = re.findall(r'"(skim_\w+)"', open(f"{sources}/runtime/cpu/CodeImage.cpp", encoding="utf-8").read())
findings += [f"{name}: is exported and in no header" for name in sorted(exported - declared - set(called))]

print("\n".join(findings) or f"{len(listed)} names")
sys.exit(bool(findings))
