"""scripts/gpu-sanitize beside stand-ins for compute-sanitizer and the programs, and its tests' names in the programs."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

script, *programs = map(pathlib.Path, sys.argv[1:])

TOOL = """#!/bin/sh
[ "$1" = --version ] && { echo "stand-in, version 1"; exit 0; }
tool=$2
while [ "${1#./}" = "$1" ]; do shift; done
echo "========= COMPUTE-SANITIZER"
[ "$tool" = "$HANGS" ] && sleep 60
[ "$tool" = "$DIES" ] && exit 1
"$@" || exit $?
hazard() { # WRITER READER KERNEL
  echo "========= Error: Potential RAW hazard detected at __shared__ 0x10440 in block (2,0,0) :"
  echo "=========     Write Thread ($1,0,0) at $3+0x2280"
  echo "=========     Read Thread ($2,0,0) at $3+0x3330"
  echo "=========     Current Value : 0"
  echo "========= RACECHECK SUMMARY: 1 hazards displayed (1 errors, 0 warnings)"
  exit 86
}
case $tool in
  "$FINDS") echo "========= Invalid __global__ write"; echo "========= ERROR SUMMARY: 2 errors"; exit 86 ;;
  racecheck) [ -z "$HAZARD" ] || hazard $HAZARD; echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)" ;;
  *) echo "========= ERROR SUMMARY: 0 errors" ;;
esac
"""
PROGRAM = """#!/bin/sh
echo "[ RUN      ] A.b"
echo "[       OK ] A.b (1 ms)"
[ -z "$SKIPS" ] || echo "[  SKIPPED ] A.c (0 ms)"
exit "${FAILS:-0}"
"""
failures = []


def expect(name, arguments, code, text="", **environment):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copy(script, folder / "sanitize")
        (folder / "tools").mkdir()
        files = {program.name: PROGRAM for program in programs}
        if environment.pop("tool", True):
            files["tools/compute-sanitizer"] = TOOL
        for path, content in files.items():
            (folder / path).write_text(content)
            (folder / path).chmod(0o755)
        path = f"{folder / 'tools'}:/usr/bin:/bin"
        done = subprocess.run([folder / "sanitize", *arguments], env={"PATH": path, "CUDA_HOME": "/nowhere", **environment},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != code or text not in done.stdout:
        failures.append(f"{name}: expected exit status {code} and '{text}' but got {done.returncode}:\n{done.stdout}")


expect("all tools", [], 0, "synccheck skim_gpu_test: 1 tests passed, exit status 0, ========= ERROR SUMMARY: 0 errors")
expect("one tool", ["racecheck"], 0, "racecheck numerics-cuda: 1 tests passed")
expect("a finding", [], 1, "Invalid __global__ write", FINDS="memcheck")
expect("a hazard between roles", ["racecheck"], 0, "hazards between roles: 1, others: 0", HAZARD="1 64 attention")
expect("a hazard between a loader and a consumer", ["racecheck"], 0, "hazards between roles: 1", HAZARD="32 479 attention")
expect("a hazard between consumers", ["racecheck"], 1, "Write Thread (130,0,0)", HAZARD="130 479 attention")
expect("a hazard within a warp", ["racecheck"], 1, "Potential RAW hazard", HAZARD="33 40 attention")
expect("a hazard in another kernel", ["racecheck"], 1, "hazards between roles: 0, others: 1", HAZARD="1 64 setup")
expect("a tool that dies", ["memcheck"], 1, "no summary", DIES="memcheck")
expect("a tool that does not finish", ["memcheck"], 1, "exit status 124", HANGS="memcheck", SKIM_SANITIZE_SECONDS="1")
expect("a failed test", ["memcheck"], 1, "exit status 1", FAILS="1")
expect("a skipped test", ["memcheck"], 1, SKIPS="1")
expect("no tool", [], 3, "error: compute-sanitizer not found", tool=False)
expect("help", ["--help"], 2, "usage: ./sanitize")
expect("an unknown tool", ["leakcheck"], 2, "usage: ./sanitize")

# Every pattern of a filter names a test of one of the programs.
tests = set()
for program in programs:
    listed = subprocess.run([program, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True, check=True).stdout
    suite = ""
    for line in listed.splitlines():
        if re.fullmatch(r"[\w/]+\.", line):
            suite = line
        elif suite and line.startswith("  "):
            tests.add(suite + line.split()[0])
patterns = re.findall(r"(?:\bAll/)?\b(?:Cuda|Device|Tensor)\w+\.[\w*]+", script.read_text())
if len(patterns) < 20:
    failures.append(f"expected the script's filters but found {patterns}")
for pattern in patterns:
    if not any(re.fullmatch(pattern.replace(".", r"\.").replace("*", ".*"), test) for test in tests):
        failures.append(f"no test is called {pattern}")

print("\n".join(failures))
sys.exit(bool(failures))
