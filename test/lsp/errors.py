"""Every error of the text front end reaches the editor, where it is: errors.py SERVER

Opens the cases below test/text/errors, whose comments say what must be found and where."""

import os
import re
import sys
import tempfile

from client import Client

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "text", "errors")
EXPECTED = re.compile(r"expected-error@([+-]\d+)?:(\d+) *\{\{(.*)\}\}")
# Cases about what a compilation is given, bytes that no text of the protocol holds, and very long texts.
OTHER = re.compile(r"// compile:|\\x[89A-Fa-f]|\\r\{")


def unescape(text):
    return re.sub(r"\\x([0-7][0-9A-Fa-f])", lambda match: chr(int(match[1], 16)), text)


findings, checked = [], 0
with tempfile.TemporaryDirectory() as folder, Client(sys.argv[1]) as client:
    for name in sorted(os.listdir(CASES)):
        with open(os.path.join(CASES, name), encoding="utf-8") as file:
            cases = re.split(r"^// -----.*\n", file.read(), flags=re.M)
        for number, case in enumerate(cases):
            if OTHER.search(case):
                continue
            main, *imports = re.split(r"^// --- file (.*)\n", case, flags=re.M)
            where = os.path.join(folder, f"{name}-{number}")
            for path, text in zip(imports[::2], imports[1::2]):
                target = os.path.join(where, path.strip())
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "w", encoding="utf-8") as out:
                    out.write(unescape(text))
            uri = f"file://{where}/case.skim"
            shown = {(d["range"]["start"]["line"], d["range"]["start"]["character"], d["message"].split("\n")[0].replace(where + "/", ""))
                     for d in client.open(uri, unescape(main)) if d["severity"] == 1}
            lines = main.split("\n")
            for at, line in enumerate(lines):
                for offset, column, message in EXPECTED.findall(line):
                    # An assumed value takes the place of one that is not given.
                    if "has no value; give it a default or set it" in message:
                        continue
                    checked += 1
                    row = at + int(offset or 0)
                    before = unescape(lines[row]).encode()[:int(column) - 1].decode(errors="ignore")
                    expected = (row, len(before.encode("utf-16-le")) // 2, message)
                    if expected not in shown:
                        findings.append(f"{name}, case {number}: {expected} is not among {sorted(shown)}")
            client.close(uri)
    if client.end() != 0:
        findings.append("the server ended in disorder")

print("\n".join(findings))
print(f"{checked} errors checked, {len(findings)} findings")
sys.exit(1 if findings or checked < 150 else 0)
