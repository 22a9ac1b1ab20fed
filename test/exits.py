"""Runs a command and checks its exit code: exits.py CODE COMMAND..."""

import subprocess
import sys

expected, command = int(sys.argv[1]), sys.argv[2:]
result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
sys.stdout.buffer.write(result.stdout)
sys.stdout.flush()
if result.returncode != expected:
    sys.exit(f"expected exit code {expected} but got {result.returncode}")
