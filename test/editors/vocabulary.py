"""The words of the language, and one place in a pattern for each, for the tests of the grammars."""

import os
import subprocess

EDITORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "editors")
# Where words stand that mean something in one place only; others stand alone.
PLACES = {"drop": "rest drop", "under": "skip 3 under max", "over": "sum(x, over: k)", "into": "sum(x, into: k / 8)",
          "scale": "dot(a, b, scale: 1)", "visible": "dot(a, b, visible: any)", "all": "dot(a, b, visible: all)",
          "any": "dot(a, b, visible: any)"}


def words(printer):
    """(kind, word, text, where the word stands in it)"""
    listed = subprocess.run([printer], capture_output=True, text=True, check=True).stdout.split("\n")
    found = []
    for kind, word in (line.split() for line in listed if line):
        text = PLACES.get(word) or {"type": f"x: {word}", "function": f"let x = {word}(y)"}.get(kind, word)
        at = text.rindex(word) if kind == "context" and word in ("all", "any") else text.index(word)
        found.append((kind, word, text, at))
    assert len(found) > 60, found
    return found
