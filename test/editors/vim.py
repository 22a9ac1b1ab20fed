"""Vim gives every word of the language the colour of its kind: vim.py VOCABULARY VIM"""

import os
import subprocess
import sys
import tempfile

from vocabulary import EDITORS, words

GROUPS = {"keyword": {"skimDeclaration", "skimImport", "skimModifier", "skimClause", "skimOperator", "skimBoolean"},
          "context": {"skimClause", "skimArgument", "skimConstant"}, "type": {"skimType"}, "axis": {"skimAxis"},
          "value": {"skimValue"}, "function": {"skimFunction"}}
cases = [(GROUPS[kind], word, text, at) for kind, word, text, at in words(sys.argv[1])]
cases += [({"skimComment"}, "//", "// keep q", 0), ({"skimString"}, "a.skim", 'import "a.skim"', 8),
          ({"skimNumber"}, "12", "12.5e-3", 0), ({"skimDeclared"}, "tuned", "pattern tuned", 8), ({""}, "index", "index", 0),
          ({""}, "keeper", "keeper", 0)]

with tempfile.TemporaryDirectory() as folder:
    file, out = os.path.join(folder, "words.skim"), os.path.join(folder, "groups")
    with open(file, "w", encoding="utf-8") as lines:
        lines.writelines(text + "\n" for _, _, text, _ in cases)
    ask = " | ".join(["let groups = [&filetype, &commentstring]",
                      *(f"call add(groups, synIDattr(synID({line}, {at + 1}, 1), 'name'))"
                        for line, (_, _, _, at) in enumerate(cases, 1))])
    script = os.path.join(folder, "ask.vim")
    with open(script, "w", encoding="utf-8") as text:
        text.write(ask.replace(" | ", "\n") + f"\ncall writefile(groups, '{out}')\nqall!\n")
    subprocess.run([sys.argv[2], "-e", "-s", "-N", "-u", "NONE", "-i", "NONE", "--cmd",
                    f"set runtimepath^={EDITORS}/vim", "--cmd", "filetype plugin on", "--cmd", "syntax on", file,
                    "-S", script], check=True, timeout=60, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    with open(out, encoding="utf-8") as text:
        kind, comment, *groups = text.read().split("\n")[:-1]

findings = []
if (kind, comment) != ("skim", "// %s"):
    findings.append(f"the file has the type '{kind}' and comments '{comment}'")
for (expected, word, text, _), group in zip(cases, groups, strict=True):
    if group not in expected:
        findings.append(f"'{word}' in '{text}' is in the group '{group}'")
print("\n".join(findings))
print(f"{len(cases)} checked, {len(findings)} findings")
sys.exit(1 if findings else 0)
