"""Times how a kernel is come by on a machine with a GPU: startup.py SKIM [--repeats N] [--no-peers] [--json FILE]

SKIM is the command-line tool. Streaming attention over a random prompt, each time in a fresh process, medians of N (3 unless
told otherwise), in milliseconds:
  cold    text to a loaded kernel: compiled, and the driver makes machine code
  cache   text to a loaded kernel that an earlier process left in the disk cache
  bundle  a bundle with machine code, opened and loaded; `skim compile --emit bundle` makes it, and needs ptxas
  flex    beside them PyTorch's FlexAttention, first call with empty caches less a second call
Bars: cold 1500, cache 20, bundle 5.
"""

import argparse
import datetime
import json
import os
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile

BARS = {"cold": 1500.0, "cache": 20.0, "bundle": 5.0}
PATTERN = """pattern streaming(sink: index = 64, window: index = 1024) {
  keep k < sink or q - k < window
}
"""
TOKENS, HEADS, KV_HEADS, DIM = 1024, 4, 2, 128
FLEX = """
import sys, time, torch
sys.path.insert(0, sys.argv[1])
import torch_gpu
q, k, v = (torch.randn(4096, heads, 128, device="cuda", dtype=torch.bfloat16) for heads in (32, 8, 8))
mask = torch_gpu.streaming_mask(4096, 64, 1024)
def call():
    torch.cuda.synchronize()
    start = time.perf_counter()
    run()
    torch.cuda.synchronize()
    return time.perf_counter() - start
run, _ = torch_gpu.flex(q, k, v, mask)
first = call()
print(first - call())
"""


class Failed(Exception):
    """A program that was run; the message is the last line that it wrote."""


def run(command, **variables):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                            env={**os.environ, **variables})
    if result.returncode != 0:
        lines = [line for line in result.stderr.splitlines() if "error" in line.lower()] or [f"exit code {result.returncode}"]
        raise Failed(f"{os.path.basename(str(command[0]))}: {lines[-1]}")
    return result.stdout


def write_operands(path):
    """q, k and v in bf16 as safetensors, of random numbers between 0.5 and 2 and their negatives."""
    header, parts, start = {}, [], 0
    for name, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
        count = TOKENS * heads * DIM
        content = bytearray(2 * count)
        content[0::2] = random.randbytes(count)
        content[1::2] = bytes(0x3F | (byte & 0x80) for byte in random.randbytes(count))
        header[name] = {"dtype": "BF16", "shape": [TOKENS, heads, DIM], "data_offsets": [start, start + len(content)]}
        parts.append(content)
        start += len(content)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


class Startup:
    """Fresh processes in a folder of their own, which is theirs to fill."""

    def __init__(self, skim, folder):
        self.skim, self.folder = skim, folder
        self.pattern, self.operands, self.bundle = (folder / name for name in ("streaming.skim", "qkv.safetensors", "streaming.skimb"))
        self.pattern.write_text(PATTERN)
        write_operands(self.operands)

    def milliseconds(self, number, cache, *options):
        # The driver keeps machine code of its own, too.
        told = run([self.skim, "run", self.pattern, "--qkv", self.operands, "--device", "cuda", "--no-dense", "--json", *options],
                   SKIM_CACHE_DIR=str(cache), CUDA_CACHE_PATH=str(self.folder / f"driver{number}"))
        return 1e3 * json.loads(told)["compile_seconds"]

    def from_text(self, repeats):
        times = {"cold": [], "cache": []}
        for number in range(repeats):
            for name in times:
                times[name].append(self.milliseconds(number, self.folder / f"cache{number}"))
        return times

    def from_bundle(self, repeats):
        run([self.skim, "compile", self.pattern, "--emit", "bundle", "--target", "sm_90a", "--query-heads", str(HEADS),
             "--kv-heads", str(KV_HEADS), "--head-dim", str(DIM), "--dtype", "bf16", "-o", self.bundle])
        return {"bundle": [self.milliseconds(number, "", "--bundle", self.bundle) for number in range(repeats)]}

    def of_flex(self):
        peers = str(pathlib.Path(__file__).resolve().parent)
        told = run([sys.executable, "-c", FLEX, peers], TORCHINDUCTOR_CACHE_DIR=str(self.folder / "inductor"),
                   TRITON_CACHE_DIR=str(self.folder / "triton"))
        return {"flex": [1e3 * float(told.split()[-1])]}


def measure(skim, repeats, peers):
    """Times in milliseconds, their medians, and why there are none of what failed."""
    times, failed = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        startup = Startup(skim, pathlib.Path(folder))
        ways = [("cold", lambda: startup.from_text(repeats)), ("bundle", lambda: startup.from_bundle(repeats))]
        for name, way in ways + ([("flex", startup.of_flex)] if peers else []):
            try:
                times.update(way())
            except Failed as failure:
                failed[name] = str(failure)
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {"milliseconds": times, "medians": medians, "bars": BARS, "failed": failed}


def print_result(result, stream):
    for name, median in result["medians"].items():
        bar = f"  at most {BARS[name]:.0f}: {'met' if median <= BARS[name] else 'missed'}" if name in BARS else ""
        print(f"{'first kernel, ' + name:28} {median:9.1f} ms{bar}", file=stream, flush=True)
    for name, reason in result["failed"].items():
        print(f"{'first kernel, ' + name:28} {reason}", file=stream, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("skim")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="time Skim alone")
    parser.add_argument("--json", type=pathlib.Path, help="write everything there")
    arguments = parser.parse_args()
    result = measure(arguments.skim, arguments.repeats, arguments.peers)
    print_result(result, sys.stdout)
    if arguments.json:
        commit = pathlib.Path(__file__).resolve().parent / "commit"
        device = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]).split("\n", maxsplit=1)[0]
        record = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "device": device,
                  "commit": commit.read_text().strip() if commit.exists() else None,
                  "command": f"startup.py skim --repeats {arguments.repeats}", "result": result}
        arguments.json.write_text(json.dumps(record, indent=2) + "\n")
    sys.exit(bool(result["failed"]))


if __name__ == "__main__":
    main()
