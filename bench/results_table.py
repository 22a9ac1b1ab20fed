#!/usr/bin/env python3
"""Writes the GPU suite's newest kept result into README.md, and draws it: bench/results_table.py [FILE]

FILE is what `skim bench gpu --json` or suite.py wrote; it is first kept as bench/results/DATE-gpu.json. The table stands
in README.md between two comments, the picture in docs/gpu.svg.
"""

import datetime
import glob
import html
import json
import os
import shutil
import sys

from record import ROOT

BEGIN, END = "<!-- The table of the GPU suite: bench/results_table.py writes it. -->", "<!-- The end of that table. -->"
PICTURE = os.path.join("docs", "gpu.svg")
TOLERANCE = 3e-3  # as in bench/gpu/suite.py
CONTESTANTS = {"skim": ("Skim", "#1f5fbf"), "cudnn": ("cuDNN", "#4d9221"), "fa2": ("FlashAttention-2", "#b8860b"),
               "flex": ("FlexAttention", "#a0408f"), "flashinfer": ("FlashInfer", "#c0392b")}


def read(path):
    """A result; ends where the file holds another thing."""
    with open(path, encoding="utf-8") as file:
        try:
            record = json.load(file)
        except ValueError as error:
            sys.exit(f"{path}: expected the JSON of the GPU suite but got {error}")
    missing = [key for key in ("date", "device", "commit", "command", "result") if key not in record]
    missing += [] if missing else [key for key in ("driver", "torch", "mode", "rounds", "rows") if key not in record["result"]]
    if missing:
        sys.exit(f"{path}: expected the JSON of the GPU suite but its {', '.join(missing)} is missing")
    if not record["result"]["rows"]:
        sys.exit(f"{path}: expected rows but got none")
    return record


def keep(path):
    """Copies a result to where results are kept."""
    date = datetime.datetime.strptime(read(path)["date"], "%Y-%m-%d %H:%M %Z")
    kept = os.path.join(ROOT, "bench", "results", date.strftime("%Y-%m-%d-%H%M") + "-gpu.json")
    if not (os.path.exists(kept) and os.path.samefile(path, kept)):
        shutil.copyfile(path, kept)


def newest():
    """The path of the kept result of the latest date, from the top of the tree."""
    kept = sorted(glob.glob(os.path.join(ROOT, "bench", "results", "*-gpu.json")))
    if not kept:
        sys.exit("bench/results: expected a result of the GPU suite, DATE-gpu.json, but there is none: "
                 "bench/results_table.py FILE keeps one")
    return os.path.relpath(kept[-1], ROOT)


def rate(row, name):
    """TFLOP/s; none where the contestant did not run, or where ours is wrong."""
    if name == "skim" and not row.get("error", float("inf")) <= TOLERANCE:
        return None
    return row.get("tflops", {}).get(name)


def cell(row, name):
    if name == "skim" and "milliseconds" in row and name in row["milliseconds"] and rate(row, name) is None:
        return "wrong result"
    if rate(row, name) is None:
        return "failed" if name in row.get("failed", {}) else "-"
    time = row["milliseconds"][name]
    text = f"{time:.2f} ms, {rate(row, name):.0f}"
    return text if name == "skim" or rate(row, "skim") is None else f"{text} ({time / row['milliseconds']['skim']:.2f}x)"


def present(rows):
    """The contestants that ran in some row, ours first."""
    return ["skim"] + [name for name in CONTESTANTS if name != "skim" and any(rate(row, name) is not None for row in rows)]


def table(record, source):
    result = record["result"]
    names = present(result["rows"])
    driver = f"driver {result['driver']}, " if result["driver"] else ""
    commit = f", commit {record['commit']}" if record["commit"] else ""
    lines = [
        "## On a GPU", "",
        f"{record['device']}, {driver}PyTorch {result['torch']}; {record['date']}{commit}; `{record['command']}`, mode "
        f"{result['mode']} ([{os.path.basename(source)}]({source})).",
        "One request, 32 query and 8 KV heads, head dimension 128,",
        "causal, bf16, unless the row says otherwise. A cell has milliseconds, TFLOP/s and, for the others, their time over Skim's.",
        "[bench/](bench/README.md) says how work is counted and how it is measured.", "",
        f"![TFLOP/s of each row, beside other implementations]({PICTURE})", "",
        "| case | " + " | ".join(CONTESTANTS[name][0] for name in names) + " |",
        "| --- |" + " ---: |" * len(names)]
    lines += [f"| {row['row']} | " + " | ".join(cell(row, name) for name in names) + " |" for row in result["rows"]]
    return "\n".join(lines + startup(result))


def startup(result):
    """A sentence on how long a first kernel takes; none where that was not measured."""
    medians = result.get("startup", {}).get("medians", {})
    ways = {"cold": "compiled", "cache": "from the disk cache", "bundle": "from a bundle",
            "flex": "and, beside it, FlexAttention's first call under `torch.compile`"}
    parts = [f"{text} {medians[name]:.{0 if medians[name] >= 100 else 1}f} ms" for name, text in ways.items() if name in medians]
    return ["", f"A first kernel in a fresh process, median: {', '.join(parts)}."] if parts else []


def picture(record):
    """Bars of TFLOP/s by row as SVG."""
    rows, names = record["result"]["rows"], present(record["result"]["rows"])
    left, width, bar, gap, top = 230, 560, 13, 12, 64
    most = max((rate(row, name) or 0 for row in rows for name in names), default=0)
    step = next(step for step in (1, 10, 50, 100, 200, 500, 1000, 10**9) if most / step <= 10)
    scale = width / (step * (int(most / step) + 1))
    shown = [(row, [name for name in names if rate(row, name) is not None] or ["skim"]) for row in rows]
    height = top + sum(len(present_here) * bar + gap for _, present_here in shown) + 12
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 60} {height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{left + width + 60}" height="{height}" fill="white"/>',
             f'<text x="12" y="22" font-size="14">TFLOP/s, {html.escape(record["device"])}</text>']
    x = left
    for name in names:
        title, colour = CONTESTANTS[name]
        parts += [f'<rect x="{x}" y="12" width="11" height="11" fill="{colour}"/>', f'<text x="{x + 16}" y="22">{title}</text>']
        x += 34 + 7 * len(title)
    value = 0
    while value * scale <= width + 0.5:
        place = left + value * scale
        parts += [f'<line x1="{place:.1f}" y1="{top - 10}" x2="{place:.1f}" y2="{height - 12}" stroke="#dddddd"/>',
                  f'<text x="{place:.1f}" y="{top - 16}" text-anchor="middle" fill="#555555">{value}</text>']
        value += step
    y = top
    for row, present_here in shown:
        parts.append(f'<text x="{left - 8}" y="{y + len(present_here) * bar / 2 + 4:.1f}" text-anchor="end">{html.escape(row["row"])}</text>')
        for name in present_here:
            reached = rate(row, name)
            length = (reached or 0) * scale
            parts.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 2}" fill="{CONTESTANTS[name][1]}"/>')
            parts.append(f'<text x="{left + length + 4:.1f}" y="{y + bar - 3}" font-size="10">{"-" if reached is None else f"{reached:.0f}"}</text>')
            y += bar
        y += gap
    return "\n".join([*parts, "</svg>", ""])


def main():
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    if len(sys.argv) == 2:
        keep(sys.argv[1])
    source = newest()
    record = read(os.path.join(ROOT, source))
    readme = os.path.join(ROOT, "README.md")
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        sys.exit(f"README.md: expected '{BEGIN}' and after it '{END}', once each")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    with open(os.path.join(ROOT, PICTURE), "w", encoding="utf-8") as file:
        file.write(picture(record))
    with open(readme, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n\n{table(record, source)}\n\n{END}{after}")
    print(f"{source}: {len(record['result']['rows'])} rows in README.md and {PICTURE}")


if __name__ == "__main__":
    main()
