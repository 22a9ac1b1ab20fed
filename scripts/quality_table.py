"""Runs `skim eval` over the example patterns and writes docs/quality.md's table and picture: quality_table.py SKIM"""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATTERNS = os.path.join(ROOT, "examples", "patterns")
PAGE = os.path.join(ROOT, "docs", "quality.md")
BEGIN, END = "<!-- scripts/quality writes from here -->\n", "<!-- to here -->\n"
SETTINGS = [
    "a_shape.first=1",
    "alibi_soft_cap.slope=0.002,0.002,0.0005,0.0005",
    "dilated_window.reach=8192",
    "short_dense.limit=4096",
    "flash_prefill.sink=128",
    "flash_prefill.window=128",
    "vertical_slash.slash=512",
]
SWEEPS = [
    "a_shape.band=8,64",
    "dilated_window.near=64,2048",
    "flash_prefill.alpha=0.05,0.1,0.2,0.4",
    "moba.blocks=2,3,6",
    "peak.mass=0.02,0.05,0.1,0.2",
    "quest.pages=16,64,128",
    "streaming.window=512,2048,4096",
    "vertical_slash.vertical=256,1024,4096",
    "xattention.mass=0.5,0.7,0.9",
]


def main():
    names = sorted(file for file in os.listdir(PATTERNS) if file.endswith(".skim"))
    command = [os.path.abspath(sys.argv[1]), "eval", *(os.path.join(PATTERNS, name) for name in names),
               "--pairs", "32", "--mass-rows", "1024", "-o", os.path.join(ROOT, "docs", "quality.png")]
    for setting in SETTINGS:
        command += ["--set", setting]
    for sweep in SWEEPS:
        command += ["--sweep", sweep]
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    print(result.stdout, end="")
    # Code 1 also says that a pattern did not run; the table then names it and why.
    if result.returncode not in (0, 1) or not result.stdout:
        sys.exit(f"{' '.join(command)}: exit code {result.returncode}")
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}```\n{result.stdout}```\n\n![Density against retrieval and bits per byte](quality.png)\n{END}{after}")
    sys.exit(result.returncode)


if __name__ == "__main__":
    main()
