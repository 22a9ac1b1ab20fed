"""Runs skim-opt on every example of the dialect reference, round trip included.

usage: doc_examples.py SKIM_OPT REFERENCE.md
An example is a whole pattern, a line at the top level of a module, or lines that stand in a pattern with the names below."""

import re
import subprocess
import sys

PARAMETERS = """%count: !skim.map<: index> {skim.name = "count"},
  %ratio: !skim.map<: f32> {skim.name = "ratio"}, %slope: !skim.map<head : f32> {skim.name = "slope"}"""

NAMES = {
    "queries": "skim.operand Q : !skim.map<head, q : vec>",
    "keys": "skim.operand K : !skim.map<kv_head, k : vec>",
    "scores": 'skim.input "scores" : !skim.map<head, q, k : f32>',
    "columns": 'skim.input "columns" : !skim.map<head, k : f32>',
    "band": "skim.affine_set affine_set<(q, k) : (63 - q + k >= 0)> () : () -> !skim.set<q - k>",
    "sinks": "skim.affine_set affine_set<(q, k) : (63 - k >= 0)> () : () -> !skim.set<k>",
    "near": "skim.affine_set affine_set<(q, k) : (63 - q + k >= 0, 63 - k >= 0)> () : () -> !skim.set<q, k>",
}

STREAMING = """skim.pattern @streaming {
  %sinks = skim.affine_set affine_set<(q, k) : (63 - k >= 0)> () : () -> !skim.set<k>
  skim.keep %sinks : !skim.set<k>
}
"""


def complete(example):
    """The module that the example stands for."""
    if "skim.pattern" in example:
        return example
    if "skim.attend" in example:
        return STREAMING + example
    lines = [f"%{name} = {value}" for name, value in NAMES.items()
             if f"%{name}" in example and f"%{name} =" not in example]
    lines.append(example)
    if "skim.keep" not in example:
        lines += ["%kept_ = " + NAMES["sinks"], "skim.keep %kept_ : !skim.set<k>"]
    return f"skim.pattern @example({PARAMETERS}) {{\n" + "\n".join(lines) + "\n}\n"


def run(skim_opt, module):
    return subprocess.run([skim_opt], input=module, capture_output=True, text=True, timeout=60)


def main():
    skim_opt, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        operations = re.split(r"^### `skim\.(\w+)`", file.read(), flags=re.MULTILINE)[1:]
    examples = []
    wrong = 0
    for name, text in zip(operations[::2], operations[1::2]):
        found = re.findall(r"```mlir\n(.*?)```", text, re.DOTALL)
        if not found and name != "end":  # `skim.end` is implied and never written.
            wrong += 1
            print(f"skim.{name} has no example")
        examples += found
    if not examples:
        sys.exit(f"{path}: no examples found")
    for example in examples:
        first = run(skim_opt, complete(example))
        second = run(skim_opt, first.stdout) if first.returncode == 0 else first
        if second.returncode != 0 or second.stdout != first.stdout:
            wrong += 1
            print(f"example does not parse or changes when it is printed:\n{example}{second.stderr}")
    print(f"{len(examples)} examples, {wrong} wrong")
    sys.exit(wrong != 0)


main()
