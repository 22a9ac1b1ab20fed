"""Runs `skim eval` over the example patterns and writes docs/quality.md's table and picture: quality_table.py SKIM"""

import json
import os
import random
import struct
import subprocess
import sys
import tempfile
from array import array

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATTERNS = os.path.join(ROOT, "examples", "patterns")
PAGE = os.path.join(ROOT, "docs", "quality.md")
BEGIN, END = "<!-- scripts/quality writes from here -->\n", "<!-- to here -->\n"
TOKENS, PROMPTS, PAIRS = 8192, 4, 32
HEADS, KV_HEADS, DIM = 4, 2, 128  # of the model
SETTINGS = [
    "a_shape.first=1",
    "alibi_soft_cap.slope=0.002,0.002,0.0005,0.0005",
    "dilated_window.reach=8192",
    "short_dense.limit=4096",
    "flash_prefill.sink=128",
    "flash_prefill.window=128",
    "lserve.window=512",
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


def inputs():
    """{name: (dtype, shape, bytes)}: what needs no model that knows this one, by the rules that the page states."""
    chance = random.Random(1)

    def chosen_blocks(row):
        return [block for block in range(row + 1) if block in (0, row - 1, row) or chance.random() < 0.2]

    blocks, capacity, lists = TOKENS // 64, 64, array("i")
    for row in list(range(blocks)) * KV_HEADS:
        chosen = chosen_blocks(row)[:capacity]
        lists.extend(chosen + [-1] * (capacity - len(chosen)))
    rows = TOKENS // 128
    layout = bytearray(HEADS * rows * rows)
    for row in range(HEADS * rows):
        for block in chosen_blocks(row % rows):
            layout[row * rows + block] = 1
    importance = array("f", [chance.random() for _ in range(KV_HEADS * TOKENS)])
    chosen = bytes(int(token % 8 == 0) for token in range(TOKENS)) * KV_HEADS
    kind = array("i", [int(head * KV_HEADS >= HEADS) for head in range(HEADS)])
    identity = array("f", [float(i == j) for i in range(DIM) for j in range(DIM)])
    nothing = array("f", bytes(4 * len(identity) * KV_HEADS))
    return {
        "blocks": ("I32", [KV_HEADS, blocks, capacity], lists.tobytes()),
        "layout": ("BOOL", [HEADS, rows, rows], bytes(layout)),
        "importance": ("F32", [KV_HEADS, TOKENS], importance.tobytes()),
        "chosen": ("BOOL", [KV_HEADS, TOKENS], chosen),
        "kind": ("I32", [HEADS], kind.tobytes()),
        "gate_query": ("F32", [HEADS, DIM, DIM], (identity * HEADS).tobytes()),
        "gate_mean": ("F32", [KV_HEADS, DIM, DIM], (identity * KV_HEADS).tobytes()),
        "gate_max": ("F32", [KV_HEADS, DIM, DIM], nothing.tobytes()),
        "gate_min": ("F32", [KV_HEADS, DIM, DIM], nothing.tobytes()),
    }


def write_safetensors(file, tensors):
    header, offset = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header).encode()
    file.write(struct.pack("<Q", len(text)) + text)
    for _, _, data in tensors.values():
        file.write(data)
    file.flush()


def main():
    names = sorted(file for file in os.listdir(PATTERNS) if file.endswith(".skim"))
    command = [os.path.abspath(sys.argv[1]), "eval", *(os.path.join(PATTERNS, name) for name in names),
               "--context", str(TOKENS), "--prompts", str(PROMPTS), "--pairs", str(PAIRS), "--mass-rows", "1024",
               "-o", os.path.join(ROOT, "docs", "quality.png")]
    for setting in SETTINGS:
        command += ["--set", setting]
    for sweep in SWEEPS:
        command += ["--sweep", sweep]
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
        write_safetensors(file, inputs())
        command += ["--inputs", file.name]
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
