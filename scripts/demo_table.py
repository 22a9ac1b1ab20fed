"""Runs every example pattern over the sample and prints a table: demo_table.py SKIM"""

import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATTERNS = os.path.join(ROOT, "examples", "patterns")
DATA = os.path.join(ROOT, "examples", "data")

# The sample has 4096 tokens, the patterns' defaults are for longer prompts.
SETTINGS = {
    "a_shape": ["first=1", "band=8"],
    "alibi_soft_cap": ["window=1024", "slope=0.002,0.002,0.0005,0.0005"],
    "dilated_window": ["near=256"],
    "flash_prefill": ["sink=128", "window=256"],
    "lserve": ["window=512"],
    "moba": ["block=128", "blocks=4"],
    "quest": ["pages=24"],
    "short_dense": ["limit=2048"],
    "streaming": ["window=512"],
    "vertical_slash": ["vertical=128", "slash=256"],
}


def run(skim, name):
    command = [skim, "run", os.path.join(PATTERNS, name + ".skim"), "--json",
               "--qkv", os.path.join(DATA, "text.safetensors"),
               "--inputs", os.path.join(DATA, "inputs.safetensors")]
    for setting in SETTINGS.get(name, []):
        command += ["--set", setting]
    command += ["--repeat", "3"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:  # warnings about costs would tear the table; errors end it
        sys.exit(f"{result.stderr}{' '.join(command)}: exit code {result.returncode}")
    return json.loads(result.stdout)


def main():
    skim = sys.argv[1]
    print(f"\n{'pattern':15} {'density':>8} {'kept mass':>9} {'error':>8} {'compile':>9} {'selection':>11} "
          f"{'attention':>11}", flush=True)
    for name in sorted(file[:-5] for file in os.listdir(PATTERNS) if file.endswith(".skim")):
        r = run(skim, name)
        print(f"{name:15} {r['density']:8.1%} {r['kept_mass']:9.1%} {r['error']:8.1e} {r['compile_seconds'] * 1e3:6.0f} ms "
              f"{r['selection_seconds'] * 1e3:8.1f} ms {r['attention_seconds'] * 1e3:8.1f} ms", flush=True)
    print("\ndensity: kept pairs of the visible ones; kept mass: share of dense attention that falls on them, mean over\n"
          "heads; error: max |out - dense| / max |dense| of the worst head; selection: the kernels before the attention.")


if __name__ == "__main__":
    main()
