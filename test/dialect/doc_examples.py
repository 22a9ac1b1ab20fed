"""Runs skim-opt on every example of the dialect reference, round trip included.

usage: doc_examples.py SKIM_OPT REFERENCE.md
The file is named for its dialect. An example of `skim` is a whole pattern, a line at the top level of a module, or lines that stand in a
pattern with the names below; one of `hopper` is a whole kernel, or lines that stand in the role below, with values of the types below."""

import pathlib
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


def complete_skim(example):
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


# The types of values that examples of `hopper` use, by name.
TYPES = {
    "visit": "!tile.visit",
    "n": "i32",
    "queries": "!tile.shared<192x128xbf16, swizzle = 128>",
    "v": "!tile.shared<64x128xbf16, swizzle = 128, stages = 2>",
    "scores": "!tile.fragment<192x64xf32>",
    "issued": "!tile.fragment<192x64xf32>",
    "p": "!tile.fragment<192x64xf32>",
    "h": "!tile.fragment<192x64xbf16>",
    "s0": "!tile.state<192x128>",
}


KERNEL = """hopper.kernel @example attributes {
    problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>,
    schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 3, %sproducer_registers = 56, consumer_registers = 152>,
    items = #tile.items<head = query, axis = queries>} {
  hopper.role scheduler {
  ^bb0(%%item: !tile.item):
  }
  hopper.role loader {
  ^bb0(%%item: !tile.item):
  }
  hopper.role consumer {
  ^bb0(%%item: !tile.item):
%s
  }
}
"""


def complete_hopper(example):
    if "hopper.kernel" in example:
        return example
    given = set(re.findall(r"%(\w+)", " ".join(re.findall(r"^\s*(%.*?) = ", example, re.MULTILINE))))
    given |= set(re.findall(r"%(\w+):", example)) | {"item"}
    used = sorted(set(re.findall(r"%(\w+)", example)) - given)
    lines = [f'%{name} = "test.value"() : () -> {TYPES[name]}' for name in used]
    gathers = "gather_keys = true, " if "listed" in example or "publish_keys" in example else ""
    return KERNEL % (gathers, "\n".join(lines + [example]))


# The module that an example stands for, by dialect.
COMPLETE = {"skim": complete_skim, "hopper": complete_hopper}


def run(skim_opt, module):
    return subprocess.run([skim_opt, "--allow-unregistered-dialect"], input=module, capture_output=True, text=True, timeout=60)


def main():
    skim_opt, path = sys.argv[1:]
    dialect = pathlib.Path(path).stem
    with open(path, encoding="utf-8") as file:
        operations = re.split(rf"^### `{dialect}\.(\w+)`", file.read(), flags=re.MULTILINE)[1:]
    examples = []
    wrong = 0
    for name, text in zip(operations[::2], operations[1::2]):
        found = re.findall(r"```mlir\n(.*?)```", text, re.DOTALL)
        # `skim.end` is implied and never written; some stand in the example of another.
        if not found and name != "end" and "Example: see `" not in text:
            wrong += 1
            print(f"{dialect}.{name} has no example")
        examples += found
    if not examples:
        sys.exit(f"{path}: no examples found")
    for example in examples:
        first = run(skim_opt, COMPLETE[dialect](example))
        second = run(skim_opt, first.stdout) if first.returncode == 0 else first
        if second.returncode != 0 or second.stdout != first.stdout:
            wrong += 1
            print(f"example does not parse or changes when it is printed:\n{example}{second.stderr}")
    print(f"{len(examples)} examples, {wrong} wrong")
    sys.exit(wrong != 0)


main()
