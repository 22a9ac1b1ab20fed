"""fish completes every subcommand, option and choice: fish.py SKIM FISH"""

import os
import subprocess
import sys
import tempfile

from shells import Findings, tables

skim, fish = sys.argv[1:]
findings = Findings()
with tempfile.TemporaryDirectory() as folder:
    for name in ["a.skim", "d.skimb", "e.safetensors"]:
        with open(os.path.join(folder, name), "w", encoding="utf-8"):
            pass
    known = tables(skim)
    cases = [("skim ", {*known, "help"}), ("skim help ", {*known}), ("skim run ", {"a.skim"}), ("skim inspect ", {"d.skimb"}),
             ("skim run --qkv ", {"e.safetensors"}), ("skim compile --target ", {"cpu", "sm_90a"}),
             ("skim compile --emit=", {"--emit=plan", "--emit=bundle"}), ("skim bench ", {"cpu", "gpu"}), ("skim completion ", {"fish"}),
             *((f"skim {name} -", set(options)) for name, options in known.items()),
             *((f"skim {name} {option[:-1]}", {option}) for name, options in known.items() for option in options)]
    lines = ["skim completion fish | source"]
    for line, _ in cases:
        lines += [f"complete -C '{line}'", "echo ---"]
    environment = dict(os.environ, HOME=folder, PATH=os.path.dirname(skim) + os.pathsep + os.environ["PATH"])
    result = subprocess.run([fish, "--no-config", "-c", "\n".join(lines)], cwd=folder, env=environment, capture_output=True,
                            text=True, check=True)
    if result.stderr:
        findings.lines.append(result.stderr)
    for (line, wanted), part in zip(cases, result.stdout.split("---\n")[:-1], strict=True):
        findings.expect(line, {offer.split("\t")[0] for offer in part.split("\n")}, wanted)
findings.end()
