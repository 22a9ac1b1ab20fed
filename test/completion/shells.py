"""What the tests of shell completion share."""

import os
import pty
import re
import select
import subprocess
import time


def help_of(skim, *arguments):
    return subprocess.run([skim, *arguments], capture_output=True, text=True, check=True).stdout


def tables(skim):
    """{subcommand: [its options]} as the help lists them."""
    names = re.findall(r"^  (\w+)  ", help_of(skim, "help"), re.M)
    assert len(names) > 5, names
    return {name: re.findall(r"^  (-[\w-]+)", help_of(skim, name, "--help"), re.M) for name in names}


def type_in(command, cases, environment, setup, timeout=15):
    """Types into an interactive shell behind a pseudo-terminal. `cases` are keys and what must be shown for them in
    time; the first that is not, with what was shown instead."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(command[0], command, dict(environment, TERM="dumb", PS1="ready> ", PROMPT="ready> "))
    shown = ""

    def wait_for(text):
        nonlocal shown
        end = time.monotonic() + timeout
        while text not in shown and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    shown += os.read(terminal, 4096).decode(errors="replace")
                except OSError:
                    break
        return text in shown

    try:
        assert wait_for("ready> "), shown
        os.write(terminal, (setup + "\necho pre''pared\n").encode())
        assert wait_for("prepared\r\n"), shown
        failures = []
        for keys, expected in cases:
            shown = ""
            os.write(terminal, keys.encode())
            if not wait_for(expected):
                failures.append(f"typing {keys!r} shows {shown!r}")
                break
            os.write(terminal, b"\x15")  # takes the line back
        return failures
    finally:
        os.close(terminal)
        os.kill(pid, 9)
        os.waitpid(pid, 0)


class Findings:
    def __init__(self):
        self.lines, self.checked = [], 0

    def expect(self, what, offered, wanted):
        self.checked += 1
        missing = sorted(set(wanted) - set(offered))
        if missing:
            self.lines.append(f"{what}: lacks {missing}, offers {sorted(offered)}")

    def end(self):
        print("\n".join(self.lines))
        print(f"{self.checked} checked, {len(self.lines)} findings")
        raise SystemExit(1 if self.lines or self.checked < 20 else 0)
