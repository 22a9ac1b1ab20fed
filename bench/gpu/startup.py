"""Times how a kernel is come by on a machine with a GPU: startup.py SKIM PATTERN QKV [--repeats N] [--no-peers] [--json FILE]

SKIM is the command-line tool, PATTERN a pattern, QKV a safetensors file with its operands. Four ways, each in a fresh
process, medians of N (3 unless told otherwise), in milliseconds:
  cold    text to a loaded kernel: compiled, and the driver makes machine code
  cache   text to a loaded kernel that an earlier process left in the disk cache
  bundle  a bundle with machine code, opened and loaded; `skim compile --emit bundle` makes it, and needs ptxas
  flex    beside them PyTorch's FlexAttention of streaming attention, first call with empty caches less a second call
Bars: cold 1500, cache 20, bundle 5.
"""

import argparse
import datetime
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

BARS = {"cold": 1500.0, "cache": 20.0, "bundle": 5.0}
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


def run(command, **variables):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                            env={**os.environ, **variables})
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {result.returncode}\n{result.stderr}")
    return result.stdout


def seconds_to_kernel(arguments, options, cache):
    command = [arguments.skim, "run", *options, "--qkv", arguments.qkv, "--device", "cuda", "--no-dense", "--json"]
    return json.loads(run(command, SKIM_CACHE_DIR=cache))["compile_seconds"]


def measure(arguments):
    times = {"cold": [], "cache": []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.repeats):
            # The driver keeps machine code of its own, too.
            os.environ["CUDA_CACHE_PATH"] = os.path.join(folder, f"driver{number}")
            cache = os.path.join(folder, f"cache{number}")
            for name in ("cold", "cache"):
                times[name].append(seconds_to_kernel(arguments, [arguments.pattern], cache))
        if arguments.bundle:
            times["bundle"] = [seconds_to_kernel(arguments, [arguments.pattern, "--bundle", arguments.bundle], "")
                               for _ in range(arguments.repeats)]
        if arguments.peers:
            peers = str(pathlib.Path(__file__).resolve().parent)
            times["flex"] = [float(run([sys.executable, "-c", FLEX, peers],
                                       TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "inductor"),
                                       TRITON_CACHE_DIR=os.path.join(folder, "triton")).split()[-1])]
    return {name: [1e3 * second for second in seconds] for name, seconds in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("skim")
    parser.add_argument("pattern")
    parser.add_argument("qkv")
    parser.add_argument("--bundle", help="a bundle of the pattern with machine code (default: bundles are not timed)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="time Skim alone")
    parser.add_argument("--json", type=pathlib.Path, help="write everything there")
    arguments = parser.parse_args()
    times = measure(arguments)
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, median in medians.items():
        bar = f"  at most {BARS[name]:.0f}: {'met' if median <= BARS[name] else 'missed'}" if name in BARS else ""
        print(f"{name:8}{median:9.1f} ms{bar}")
    if arguments.json:
        commit = pathlib.Path(__file__).resolve().parent / "commit"
        device = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]).split("\n", maxsplit=1)[0]
        record = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "device": device,
                  "commit": commit.read_text().strip() if commit.exists() else None, "command": shlex.join(sys.argv),
                  "result": {"milliseconds": times, "medians": medians, "bars": BARS}}
        arguments.json.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
