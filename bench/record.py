"""Results of benchmarks as files, each with its date, device, commit and command."""

import datetime
import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def output(*command):
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def device():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{names[0] if names else 'unknown'}, {os.cpu_count()} cores"


def commit():
    changed = " with changes" if output("git", "status", "--porcelain", "--untracked-files=no") else ""
    return output("git", "rev-parse", "--short", "HEAD").strip() + changed


def keep(name, command, result):
    """Writes bench/results/DATE-NAME.json and returns its path."""
    now = datetime.datetime.now(datetime.timezone.utc)
    record = {
        "date": now.strftime("%Y-%m-%d %H:%M UTC"),
        "device": device(),
        "commit": commit(),
        "command": command,
        "result": result,
    }
    path = os.path.join("bench", "results", now.strftime("%Y-%m-%d-%H%M") + f"-{name}.json")
    os.makedirs(os.path.join(ROOT, os.path.dirname(path)), exist_ok=True)
    with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
        json.dump(record, file, indent=2)
        file.write("\n")
    return path
