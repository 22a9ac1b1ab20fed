"""Patterns in the documents compile, links and named files exist: docs.py SKIM"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import tree

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\((?!\w+:|#)([^)#]+)[^)]*\)")
NAMED = re.compile(r"(?<![\w./-])(?:scripts|examples|docs|test|tools)/[\w./-]*\w")

findings, checked = [], 0
with tempfile.TemporaryDirectory() as folder:
    patterns = os.path.join(tree.ROOT, "examples", "patterns")
    for name in os.listdir(patterns):  # what a document's pattern imports
        shutil.copy(os.path.join(patterns, name), folder)
    for path in tree.files(".md"):
        text = tree.read(path)
        for target in LINK.findall(text):
            checked += 1
            if not os.path.exists(os.path.join(tree.ROOT, os.path.dirname(path), target)):
                findings.append(f"{path}: links to {target}, which does not exist")
        for language, block in BLOCK.findall(text):
            if language == "sh":
                for target in NAMED.findall(block):
                    checked += 1
                    if not os.path.exists(os.path.join(tree.ROOT, target)):
                        findings.append(f"{path}: names {target}, which does not exist")
            # Tutorials show mistakes as well; a test of their own runs them.
            if language == "skim" and re.search(r"^pattern ", block, re.M) and not path.startswith("docs/tutorials/"):
                checked += 1
                file = os.path.join(folder, "document.skim")
                with open(file, "w", encoding="utf-8") as out:
                    out.write(block)
                result = subprocess.run([sys.argv[1], "compile", file, "--emit", "skim"],
                                        capture_output=True, text=True, check=False)
                if result.returncode:
                    findings.append(f"{path}: a pattern does not compile:\n{result.stderr}")

tree.report(findings, checked)
