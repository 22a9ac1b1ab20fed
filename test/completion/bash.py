"""bash completes every subcommand, option and choice: bash.py SKIM BASH"""

import os
import subprocess
import sys
import tempfile

from shells import Findings, tables, type_in

skim, bash = sys.argv[1:]
findings = Findings()
with tempfile.TemporaryDirectory() as folder:
    script = os.path.join(folder, "skim.bash")
    with open(script, "w", encoding="utf-8") as out:
        subprocess.run([skim, "completion", "bash"], stdout=out, check=True)
    for name in ["a.skim", "b c.skim", "d.skimb", "e.safetensors"]:
        with open(os.path.join(folder, name), "w", encoding="utf-8"):
            pass
    os.mkdir(os.path.join(folder, "models"))

    def complete(cases):
        """What the function offers for each list of words, of which the last is being written."""
        lines = [f"source {script}", "compopt() { :; }"]  # it works while bash itself completes only
        for words in cases:
            quoted = " ".join(f"'{word}'" for word in ["skim", *words])
            lines += [f"COMP_WORDS=({quoted})", f"COMP_CWORD={len(words)}", "_skim",
                      "printf '%s\\n' \"${COMPREPLY[@]}\"", "echo ---"]
        result = subprocess.run([bash, "--norc", "--noprofile", "-c", "\n".join(lines)], cwd=folder,
                                capture_output=True, text=True, check=True)
        assert not result.stderr, result.stderr
        return [set(part.split("\n")) - {""} for part in result.stdout.split("---\n")[:-1]]

    known = tables(skim)
    cases = [[""], ["help", ""], *([name, "-"] for name in known), *([name, option[:-1]] for name in known for option in known[name])]
    wanted = [{*known, "help"}, {*known}, *(set(options) for options in known.values()),
              *({option} for options in known.values() for option in options)]
    cases += [["-"], ["compile", "--target", ""], ["compile", "--target", "=", "aarch"], ["compile", "--target", "="],
              ["compile", "--emit", "p"], ["run", "--device", ""], ["run", ""], ["inspect", ""], ["run", "--qkv", ""],
              ["eval", "--model", ""], ["bench", ""], ["completion", ""]]
    wanted += [{"--help", "--version"}, {"cpu", "sm_90a", "x86-64-v3"}, {"aarch64"}, {"cpu", "sm_90a"}, {"plan", "ptx"},
               {"cpu", "reference", "cuda"}, {"a.skim", "b c.skim", "models"}, {"d.skimb"}, {"e.safetensors", "models"},
               {"models"}, {"cpu", "gpu"}, {"bash", "zsh", "fish"}]
    offers = complete(cases)
    for case, offered, words in zip(cases, offers, wanted, strict=True):
        findings.expect(" ".join(["skim", *case]), offered, words)
    for case, refused in [(["run", ""], "e.safetensors"), (["eval", "--model", ""], "a.skim"), (["run", "-"], "--emit"),
                          (["compile", "--head-dim", ""], "a.skim"), (["run", "--set", ""], "a.skim")]:
        findings.checked += 1
        if refused in complete([case])[0]:
            findings.lines.append(f"skim {' '.join(case)}: offers {refused}")

    environment = dict(os.environ, PATH=os.path.dirname(skim) + os.pathsep + os.environ["PATH"], HISTFILE="")
    findings.checked += 1
    findings.lines += type_in([bash, "--norc", "--noprofile", "-i"], [("skim insp\t", "skim inspect ")], environment, f"source {script}")
findings.end()
