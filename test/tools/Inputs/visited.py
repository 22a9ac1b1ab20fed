"""Calls recompute.py with the tile size of the attention kernel: visited.py TILE QKV OUT JSON"""

import os
import re
import subprocess
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    schedules = re.findall(r"#tile\.schedule<rows = (\d+), keys = (\d+)", file.read())
assert schedules, "no schedule in the tile programs"
script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recompute.py")
sys.exit(subprocess.call([sys.executable, script, *sys.argv[2:], *schedules[-1]]))
