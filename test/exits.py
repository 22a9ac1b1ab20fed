"""Runs a command for so many seconds at most and checks its exit code: exits.py SECONDS CODE COMMAND..."""

import subprocess
import sys

seconds, expected, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, check=False)
sys.stdout.buffer.write(result.stdout)
sys.stdout.flush()
if result.returncode != expected:
    sys.exit(f"expected exit code {expected} but got {result.returncode}")
