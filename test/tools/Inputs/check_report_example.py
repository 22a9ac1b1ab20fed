"""The report in docs/command-line.md is what its command prints: check_report_example.py ROOT [--write]

With --write the document is changed instead."""

import re
import subprocess
import sys

root = sys.argv[1]
path = f"{root}/docs/command-line.md"
with open(path, encoding="utf-8") as file:
    page = file.read()
example = re.compile(r"```sh\n(skim compile \S+ --report[^\n]*)\n```\n\nprints\n\n```text\n(.*?)```\n", re.S)
(found,) = example.finditer(page)
command, documented = found.groups()
printed = subprocess.run(command.split(), cwd=root, capture_output=True, text=True, check=True)
assert printed.stderr == "", printed.stderr
if "--write" in sys.argv:
    with open(path, "w", encoding="utf-8") as file:
        file.write(page[:found.start(2)] + printed.stdout + page[found.end(2):])
else:
    assert printed.stdout == documented, f"{command} prints\n{printed.stdout}"
    print("the example is what is printed")
