"""Times Skim's GPU kernels beside others: suite.py KERNELS LIBRARY [--rows TEXT] [--mode M] [--rounds N] [--skim SKIM] [--json FILE]

KERNELS is the folder that `skim bench gpu --keep` filled, LIBRARY is libskim_bench_runtime.so. All contestants run in this
process on the same tensors and the same stream, in shuffled rounds (timing.py says how). Each result is checked: sampled
rows of ours against attention in f64 over the kept keys, and, where a peer computes the same, against the peer's.
"""

import argparse
import datetime
import json
import pathlib
import shlex
import subprocess
import sys

import torch

import kernels
import rows
import startup
import timing

STARTUP = "first kernel"  # the name of what startup.py measures
TOLERANCE = 3e-3  # of the sampled rows, relative and by the Euclidean norm: bf16 operands and output


def first_line(failure):
    """Of its message; its kind where it has none."""
    return (str(failure).splitlines() or [type(failure).__name__])[0]


def sampled_error(case, count=48):
    """|out - reference| / |reference| by the Euclidean norm, over sampled rows of request 0, and the largest of a row."""
    q, out = case.operands["q"], case.operands["out"]
    length = int(case.operands["cu_seqlens_q"][1])
    keys = int(case.operands["kv_lens"][0])
    k, v = (gathered(case, name)[:keys] for name in "kv")
    generator = torch.Generator().manual_seed(2)
    worst, differences, references = 0.0, 0.0, 0.0
    for i in range(count):
        row = length - 1 if i == 0 else int(torch.randint(length, (1,), generator=generator))
        head = int(torch.randint(rows.HEADS, (1,), generator=generator))
        group = head // (rows.HEADS // rows.KV_HEADS)
        position = keys - length + row
        kept = case.keep(head, position).nonzero()[:, 0]
        if kept.numel() == 0:
            difference, reference = float(out[row, head].double().norm()), 0.0
        else:
            scores = k[kept, group].double() @ q[row, head].double() / q.shape[-1] ** 0.5
            expected = torch.softmax(scores, 0) @ v[kept, group].double()
            difference, reference = float((out[row, head].double() - expected).norm()), float(expected.norm())
        if difference != difference:  # NaN
            return float("inf"), float("inf")
        differences, references = differences + difference**2, references + reference**2
        if difference > 0.0:
            worst = max(worst, difference / reference if reference > 0.0 else float("inf"))
    return (differences / references) ** 0.5, worst


def gathered(case, name):
    """Keys or values of request 0, one token after another."""
    if case.layout == "contiguous":
        return case.operands[name]
    return case.operands[name][case.operands["block_table"][0].long()].flatten(0, 1)


def run_row(row, arguments, library):
    """What came of a row; without its kernel the peers run alone."""
    torch.manual_seed(0)
    case = row.case()
    result = {"row": row.name, "flops": case.flops, "difference": {}}
    contestants, ours = {}, None
    if (arguments.kernels / (row.kernel + ".ptx")).exists():
        ours = kernels.Call(library, arguments.kernels, row.kernel, case.operands, case.shape, case.layout, case.parameters)
        ours()
        ours.check()
        result["error"], result["largest_row_error"] = sampled_error(case)
        contestants["skim"] = ours
    for name, peer in (row.peers() if arguments.peers else {}).items():
        try:
            run, output = peer(case)
            computed = output()
            if ours:
                result["difference"][name] = float((computed.float() - case.operands["out"].float()).abs().max())
            contestants[name] = run
        except ImportError:
            result.setdefault("absent", []).append(name)
        except Exception as failure:  # whatever a peer fails with, the suite goes on
            result.setdefault("failed", {})[name] = first_line(failure)
    result["milliseconds"], result["times"] = timing.interleave(contestants, arguments.mode, arguments.rounds)
    result["tflops"] = {name: case.flops / ms * 1e-9 for name, ms in result["milliseconds"].items()}
    if ours:
        ours.check()
        ours.close()
    return result


def print_row(result, stream):
    times = result.get("milliseconds", {})
    ours = times.get("skim")
    if ours:
        wrong = "" if result["error"] <= TOLERANCE else "  WRONG"
        own = f"{ours:9.3f} ms {result['tflops']['skim']:7.1f} TFLOP/s  error {result['error']:.1e}{wrong}"
    else:
        own = f"{'not compiled':>12}"
    others = [f"{name} {ms:.3f} ms {result['tflops'][name]:.1f} TFLOP/s" + (f" ({ms / ours:.3f}x)" if ours else "")
              for name, ms in times.items() if name != "skim"]
    others += [f"{name}: {reason}" for name, reason in result.get("failed", {}).items()]
    others += [f"{name}: absent" for name in result.get("absent", [])]
    print(f"{result['row']:28} {own}  {', '.join(others)}", file=stream, flush=True)


def driver_version():
    """Of the GPU's driver; without its tool, not known."""
    try:
        result = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                                stdout=subprocess.PIPE, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return result.stdout.split("\n")[0].strip()


def described(arguments, device):
    """The head of a result, as bench/record.py has it; the command is what repeats it."""
    commit = arguments.kernels / "commit"
    command = ["skim", "bench", "gpu", "--rounds", str(arguments.rounds)]
    command += ["--rows", arguments.rows] if arguments.rows else []
    command += [] if arguments.peers else ["--peer", "none"]
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "device": device.name,
            "commit": commit.read_text().strip() if commit.exists() else None, "command": shlex.join(command),
            "result": {"driver": driver_version(), "torch": torch.__version__, "mode": arguments.mode,
                       "rounds": arguments.rounds, "rows": []}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--rows", default="", help="the rows whose names contain this text (default: all)")
    parser.add_argument("--mode", choices=timing.MODES, default="sustained")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--skim", help="the command-line tool: time how a kernel is come by, too (startup.py; default: not timed)")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="time Skim's kernels alone")
    parser.add_argument("--json", type=pathlib.Path, help="write everything there, each time too; - is the standard output, and "
                        "the table goes to the standard error")
    arguments = parser.parse_args()
    library = kernels.Library(arguments.library.resolve())
    device = torch.cuda.get_device_properties(0)
    record = described(arguments, device)
    results = record["result"]["rows"]
    to_file = arguments.json is not None and str(arguments.json) != "-"
    table = sys.stderr if arguments.json is not None and not to_file else sys.stdout
    print(f"{device.name}, driver {record['result']['driver'] or 'unknown'}, torch {torch.__version__}, {arguments.mode}, "
          f"{arguments.rounds} rounds", file=table, flush=True)
    for row in rows.ROWS:
        if arguments.rows not in row.name:
            continue
        try:
            results.append(run_row(row, arguments, library))
        except RuntimeError as failure:
            results.append({"row": row.name, "failed": {"skim": first_line(failure)}})
        print_row(results[-1], table)
        # After each row: a device that a peer has brought down writes nothing more.
        if to_file:
            arguments.json.write_text(json.dumps(record, indent=2) + "\n")
        torch.cuda.empty_cache()
    timed = arguments.skim and arguments.rows in STARTUP
    if timed:
        record["result"]["startup"] = startup.measure(arguments.skim, arguments.rounds, arguments.peers)
        startup.print_result(record["result"]["startup"], table)
        if to_file:
            arguments.json.write_text(json.dumps(record, indent=2) + "\n")
    if not results and not timed:
        sys.exit(f"no row's name contains '{arguments.rows}'; the rows are " + ", ".join([row.name for row in rows.ROWS] + ([STARTUP] if arguments.skim else [])))
    if arguments.json is not None and not to_file:
        print(json.dumps(record, indent=2), flush=True)
    sys.exit(any(not result.get("error", 1) <= TOLERANCE for result in results))


if __name__ == "__main__":
    main()
