"""Help and docs/command-line.md have every option, each with its default: help.py SKIM"""

import re
import subprocess
import sys

import tree

page = tree.read("docs/command-line.md")
sections = {name: text for name, text in re.findall(r"^## skim (\w+)\n(.*?)(?=^## |\Z)", page, re.M | re.S)}


def options_of(whom):
    return re.search(rf"^## Options of {whom}\n(.*?)(?=^## )", page, re.M | re.S).group(1)


common, of_patterns = options_of("all subcommands"), options_of("those that take a pattern")


def help_of(*arguments):
    return subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True, check=True).stdout


commands = re.findall(r"^  (\w+)  ", help_of("help"), re.M)
findings, checked = [], 0
if set(commands) != set(sections):
    findings.append(f"skim help lists {sorted(commands)}, docs/command-line.md has {sorted(sections)}")
# Options that say on or off, or without which nothing runs, have no default to give.
NO_DEFAULT = {"--help", "--json", "--report", "--no-dense", "--save-kept", "--qkv", "--inputs", "--out", "-o"}
for command in commands:
    options = re.findall(r"^  (-[\w-]+)(?: \S+)? +(\S.*)$", help_of(command, "--help"), re.M)
    if help_of("help", command) != help_of(command, "--help"):
        findings.append(f"skim help {command} and skim {command} --help differ")
    shared = common + (of_patterns if f"skim {command} PATTERN.skim" in help_of(command, "--help") else "")
    documented = set(re.findall(r"`(-{1,2}[\w-]+)", sections.get(command, "") + shared))
    for option, text in options:
        checked += 1
        if option not in documented:
            findings.append(f"docs/command-line.md: skim {command} lacks {option}")
        if "(default: " not in text and option not in NO_DEFAULT:
            findings.append(f"skim {command} --help: {option} names no default")
    for option in documented - {option for option, _ in options}:
        findings.append(f"docs/command-line.md: skim {command} has no option {option}")

tree.report(findings, checked)
