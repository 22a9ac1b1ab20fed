"""Help and the documents have every option, each with its default: help.py SKIM SKIM-OPT SKIM-LSP-SERVER"""

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


# Values that are numbers, and in what they count.
NUMBERS = {"N", "R", "RATE", "TOKENS"}
UNIT = re.compile(r"\b(?:bytes|elements|heads|layer|milliseconds|pairs|prompts?|request|rows|seed|share|threads|times|tokens)\b")
DEFAULT = re.compile(r"default(?: of \w+)?: [^)]+\)$")
commands = re.findall(r"^  (\w+)  ", help_of("help"), re.M)
findings, checked = [], 0
if set(commands) != set(sections):
    findings.append(f"skim help lists {sorted(commands)}, docs/command-line.md has {sorted(sections)}")
for command in commands:
    options = re.findall(r"^  (-[\w-]+)(?: (\S+))? +(\S.*)$", help_of(command, "--help"), re.M)
    if help_of("help", command) != help_of(command, "--help"):
        findings.append(f"skim help {command} and skim {command} --help differ")
    shared = common + (of_patterns if f"skim {command} PATTERN.skim" in help_of(command, "--help") else "")
    documented = set(re.findall(r"`(-{1,2}[\w-]+)", sections.get(command, "") + shared))
    for option, value, text in options:
        checked += 1
        if value in NUMBERS and not UNIT.search(text):
            findings.append(f"skim {command} --help: {option} names no unit")
        if option not in documented:
            findings.append(f"docs/command-line.md: skim {command} lacks {option}")
        if not DEFAULT.search(text) and option != "--help":
            findings.append(f"skim {command} --help: {option} names no default")
    for option in documented - {option for option, _, _ in options}:
        findings.append(f"docs/command-line.md: skim {command} has no option {option}")


def program_help(program):
    """{option: text} of a program that has its options from llvm::cl, those of passes included."""
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^ *(--[\w-]+)\S* +- +(\S.*)$", text, re.M)


# The passes of this project stand in the help of skim-opt with what they do, and their options with defaults.
options = program_help(sys.argv[2])
ours = {option for option, _ in options if option.startswith("--skim-")}
registered = set()
for path in ("passes/Passes.td", "codegen/cpu/Passes.td", "codegen/nvvm/Passes.td"):
    registered |= {"--" + flag for flag in re.findall(r"^def \w+ : \w+<\"(skim-[\w-]+)\"", tree.read(path), re.M)}
registered.add("--skim-plan")
checked += len(registered)
for option in registered ^ ours:
    findings.append(f"skim-opt --help and the definitions of passes disagree about {option}")
for option, text in options:
    if option == "--target" and "default" not in text:
        findings.append(f"skim-opt --help: {option}, {text}, names no default")

# Those of the language server, in docs/editors.md as well.
page = tree.read("docs/editors.md")
for option, text in program_help(sys.argv[3]):
    if option in ("--help", "--help-list", "--version"):
        continue
    checked += 1
    if "(default: " not in text:
        findings.append(f"skim-lsp-server --help: {option} names no default")
    if f"`{option}" not in page:
        findings.append(f"docs/editors.md: skim-lsp-server lacks {option}")

tree.report(findings, checked)
