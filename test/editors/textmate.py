"""The TextMate grammar gives every word of the language the colour of its kind: textmate.py VOCABULARY"""

import json
import os
import re
import sys

from vocabulary import EDITORS, words


def load(*path):
    with open(os.path.join(EDITORS, "vscode", *path), encoding="utf-8") as file:
        return json.load(file)


grammar = load("syntaxes", "skim.tmLanguage.json")
rules = [(re.compile(rule["match"]), rule) for rule in grammar["patterns"]]
SCOPES = {"keyword": ("keyword.", "storage.modifier.", "constant.language.boolean."),
          "context": ("keyword.control.", "variable.parameter.", "constant.language."), "type": ("storage.type.",),
          "axis": ("support.constant.",), "value": ("variable.language.",), "function": ("support.function.",)}


def scopes(text):
    """The scope of every character, by the rule that matches first, as editors go."""
    found, at = [""] * len(text), 0
    while at < len(text):
        matches = [(match.start(), order, match, rule) for order, (regex, rule) in enumerate(rules)
                   if (match := regex.search(text, at)) and match.end() > match.start()]
        if not matches:
            break
        _, _, match, rule = min(matches, key=lambda each: each[:2])
        if "name" in rule:
            found[match.start():match.end()] = [rule["name"]] * (match.end() - match.start())
        for group, capture in rule.get("captures", {}).items():
            start, end = match.span(int(group))
            found[start:end] = [capture["name"]] * (end - start)
        at = match.end()
    return found


findings, checked = [], 0
for kind, word, text, at in words(sys.argv[1]):
    checked += 1
    names = set(scopes(text)[at:at + len(word)])
    if len(names) != 1 or not names.pop().startswith(SCOPES[kind]):
        findings.append(f"'{word}' in '{text}' has the scopes {scopes(text)}")

PLAIN = [("// keep q", "comment."), ('"a.skim"', "string."), ("12.5e-3", "constant.numeric."), ("<=", "keyword.operator."),
         ("qq", ""), ("keeper", ""), ("index", ""), ("all", ""), ("my_q", "")]
for text, scope in PLAIN:
    checked += 1
    names = set(scopes(text))
    if len(names) != 1 or not (names.pop() or "-").startswith(scope or "-"):
        findings.append(f"'{text}' has the scopes {scopes(text)}")

# What the extension names is there.
package = load("package.json")
load("language-configuration.json")
contributes = package["contributes"]
for path in [package["main"], contributes["grammars"][0]["path"], contributes["languages"][0]["configuration"]]:
    checked += 1
    if not os.path.exists(os.path.join(EDITORS, "vscode", path)):
        findings.append(f"package.json names {path}, which does not exist")
if contributes["grammars"][0]["scopeName"] != grammar["scopeName"]:
    findings.append("package.json and the grammar name different scopes")

print("\n".join(findings))
print(f"{checked} checked, {len(findings)} findings")
sys.exit(1 if findings else 0)
