"""Does what a tutorial says, block by block: run.py TUTORIAL SOURCES BUILD FOLDER

Blocks of `skim`, `c`, `cpp` and `cmake` become the file that the text names last before them. Blocks of `sh` run one after the
other in one folder, where `examples` and `build` are those of the tree; each must succeed, unless what it shows is an
error. A block of `text` after one is what it must print: a line of `...` stands for any lines; times and sizes in bytes
may differ, other numbers by a little, as processors round differently."""

import os
import re
import shutil
import subprocess
import sys

tutorial, sources, build, folder = sys.argv[1:]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]\d+)?(?: (?:ms|s|bytes)\b)?")
FILES = {"skim", "c", "cpp", "cmake"}


def same_line(expected, got):
    # Columns move with the width of numbers.
    if re.sub(r"\s+", " ", NUMBER.sub("#", expected)) != re.sub(r"\s+", " ", NUMBER.sub("#", got)):
        return False
    for one, other in zip(NUMBER.findall(expected), NUMBER.findall(got), strict=True):
        if one.endswith("s"):
            continue
        one, other = float(one), float(other)
        # Whole numbers are counts, and exact where they are small.
        if abs(one - other) > max(0.02 * max(abs(one), abs(other)), 0 if one == int(one) else 0.11):
            return False
    return True


def same(expected, got):
    """Whether lines agree; `...` takes as few as it can."""
    if not expected:
        return not got
    if expected[0] == "...":
        return any(same(expected[1:], got[at:]) for at in range(len(got) + 1))
    return bool(got) and same_line(expected[0], got[0]) and same(expected[1:], got[1:])


with open(tutorial, encoding="utf-8") as file:
    text = file.read()
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
for name, target in [("examples", os.path.join(sources, "examples")), ("build", build)]:
    os.symlink(target, os.path.join(folder, name))
environment = dict(os.environ, SKIM_CACHE_DIR=os.path.join(folder, "cache"), TERM="dumb")

before, printed, ran, compared = 0, None, 0, 0
prelude = ""
for block in BLOCK.finditer(text):
    language, body = block.groups()
    line = text.count("\n", 0, block.start()) + 1
    if language in FILES:
        names = re.findall(r"`([\w./-]+\.\w+)`", text[before:block.start()])
        assert names, f"{tutorial}:{line}: no file is named before the block"
        path = os.path.join(folder, names[-1])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(body)
    elif language == "sh":
        shown = BLOCK.match(text[block.end():].lstrip())
        expects_error = shown is not None and shown[1] == "text" and "error: " in shown[2]
        result = subprocess.run(["bash", "-eo", "pipefail", "-c", prelude + body], cwd=folder, env=environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        printed = result.stdout
        if (result.returncode != 0) != expects_error:
            sys.exit(f"{tutorial}:{line}: ended with {result.returncode}\n{body}{printed}")
        # What a user sets in a shell stays set.
        prelude += "".join(each + "\n" for each in body.split("\n") if each.startswith("export "))
        ran += 1
    elif language == "text":
        assert printed is not None, f"{tutorial}:{line}: no command before this output"
        if not same(body.rstrip().split("\n"), printed.rstrip().split("\n")):
            sys.exit(f"{tutorial}:{line}: expected\n{body}but got\n{printed}")
        compared += 1
        printed = None
    else:
        sys.exit(f"{tutorial}:{line}: a block of '{language}', which nothing runs")
    before = block.end()
print(f"{ran} blocks ran, {compared} outputs compared")
sys.exit(0 if ran and compared else 1)
