"""What the house tests share: the files of the tree, and how a finding is reported."""

import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CPP = (".cpp", ".h")


def files(*suffixes):
    """Paths of the tree, relative to its root: what git tracks, or without git all but the builds."""
    listed = None
    if shutil.which("git"):
        listed = subprocess.run(
            ["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"],
            capture_output=True, text=True, check=False)
    if listed and listed.returncode == 0:
        paths = [p for p in listed.stdout.splitlines() if os.path.isfile(os.path.join(ROOT, p))]
    else:
        paths = []
        for folder, folders, names in os.walk(ROOT):
            folders[:] = [f for f in folders if not f.startswith((".git", "build", "__pycache__"))]
            paths += [os.path.relpath(os.path.join(folder, n), ROOT) for n in names]
    if not paths:
        sys.exit("found no files below " + ROOT)
    return sorted(p for p in paths if not suffixes or p.endswith(suffixes))


def read(path):
    """The text of a file of the tree; None for one that is not text."""
    with open(os.path.join(ROOT, path), "rb") as file:
        data = file.read()
    return None if b"\0" in data else data.decode()


def report(findings, checked):
    """Ends the test: fails when something was found, or when nothing was looked at."""
    for finding in findings:
        print(finding)
    print(f"{checked} checked, {len(findings)} findings")
    sys.exit(1 if findings or not checked else 0)
