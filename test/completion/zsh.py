"""zsh completes every subcommand, option and choice: zsh.py SKIM ZSH"""

import os
import subprocess
import sys
import tempfile

from shells import Findings, tables, type_in

skim, zsh = sys.argv[1:]
findings = Findings()
known = tables(skim)
with tempfile.TemporaryDirectory() as folder:
    script = os.path.join(folder, "_skim")
    with open(script, "w", encoding="utf-8") as out:
        subprocess.run([skim, "completion", "zsh"], stdout=out, check=True)
    with open(os.path.join(folder, "only.skim"), "w", encoding="utf-8"):
        pass
    subprocess.run([zsh, "-n", script], check=True)
    with open(script, encoding="utf-8") as text:
        branches = text.read()
    for name, options in known.items():
        branch = branches.split(f"\n  {name})\n")[1].split(";;")[0]
        findings.expect(f"the branch of {name}",
                        {line.lstrip(" '*").split("[")[0].rstrip("=+") for line in branch.split("\n")}, options)
    environment = dict(os.environ, PATH=os.path.dirname(skim) + os.pathsep + os.environ["PATH"], ZDOTDIR=folder, HOME=folder)
    # As an installed file, found by the completion system itself; which need not read what it knows of other programs.
    setup = "\n".join([f"cd {folder}", "all=($fpath)", f"fpath=({folder} ${{(M)all:#*/functions/Completion/(Base|Zsh)}} "
                       "${all:#*/Completion/*})", f"autoload -U compinit; compinit -u -d {folder}/dump", "fpath=($fpath $all)",
                       "autoload -U $^all/_*(N:t)", "bindkey '^I' complete-word"])
    cases = [("skim insp\t", "skim inspect"), ("skim compile --targ\t", "--target="),
             ("skim compile --target=aar\t", "--target=aarch64"), ("skim run on\t", "only.skim"),
             ("skim run --device ref\t", "reference"), ("skim completion z\t", "zsh"), ("skim help ev\t", "eval"),
             *((f"skim {name} --hel\t", "--help") for name in known)]
    findings.checked += len(cases)
    findings.lines += type_in([zsh, "-f", "-i"], cases, environment, setup)
findings.end()
