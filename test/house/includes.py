"""Includes between folders go the ways that the table of docs/architecture.md allows."""

import re

import tree

ROW = re.compile(r"^\| `([\w/-]+?)/?` \|[^|]*\|([^|]*)\|$", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)

rows = {folder: allowed for folder, allowed in ROW.findall(tree.read("docs/architecture.md"))}
folders = sorted(rows, key=len, reverse=True)  # the longest prefix decides


def folder_of(path):
    return next((f for f in folders if path.startswith(f + "/")), None)


def allowed_from(folder):
    named = {name.rstrip("/") for name in re.findall(r"`([\w/-]+)`", rows[folder])}
    unknown = named - set(folders)
    assert not unknown, f"docs/architecture.md: row {folder} names unknown folders {unknown}"
    return set(folders) if rows[folder].strip() == "all" else named | {folder}


# The oracle stands on the parser alone: of frontends/text, on the headers of its library and on those that are data only.
PARSER = re.search(r"skim_add_library\(skim_text_parser MLIR\s+SOURCES ([^)]*)\)",
                   tree.read("frontends/text/CMakeLists.txt")).group(1).split()
FOR_THE_REFERENCE = {"frontends/text/Ast.h", "frontends/text/Limits.h",
                     *(f"frontends/text/{name[:-4]}.h" for name in PARSER)}

findings, checked = [], 0
for path in tree.files(*tree.CPP, ".td"):
    folder = folder_of(path)
    if folder is None:
        continue
    allowed = allowed_from(folder)
    for included in INCLUDE.findall(tree.read(path)):
        checked += 1
        # The public headers of the runtime are included as <skim/...>.
        target = "runtime" if included.startswith("skim/") else folder_of(included)
        if target is not None and target not in allowed:
            findings.append(f"{path}: includes {included}, and {folder} may not include {target}")
        if folder == "reference" and target == "frontends/text" and included not in FOR_THE_REFERENCE:
            findings.append(f"{path}: includes {included}, and the reference stands on the parser alone")
        if folder == "runtime" and included.startswith(("llvm/", "mlir/", "llvm-c/", "mlir-c/")):
            findings.append(f"{path}: includes {included}, and the runtime is free of LLVM")

tree.report(findings, checked)
