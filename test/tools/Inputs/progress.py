"""Runs a command with a terminal as its standard error: progress.py COLUMNS COMMAND...

Prints what the terminal was sent, one write of a line a line, then `screen: ` and what stays on it."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

columns, command = int(sys.argv[1]), sys.argv[2:]
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
sent = b""
while True:
    try:
        part = os.read(ours, 65536)
    except OSError:  # the other side was closed
        break
    if not part:
        break
    sent += part
assert process.wait() == 0, sent
text = sent.decode()
for piece in re.split(r"\r\033\[K", text):
    if piece.strip():
        print("sent:", piece.strip())
        assert len(piece.split("\n")[-1]) < columns, piece
# What a terminal makes of it: a carriage return goes back, ESC [ K clears to the end of the line.
lines, line, at = [], "", 0
for token in re.findall(r"\033\[[0-9;]*[A-Za-z]|.", text, re.S):
    if token == "\r":
        at = 0
    elif token == "\n":
        lines.append(line)
        line, at = "", 0
    elif token == "\033[K":
        line = line[:at]
    elif not token.startswith("\033"):
        line = line[:at].ljust(at) + token + line[at + 1:]
        at += 1
print("screen:", " / ".join(filter(None, map(str.strip, [*lines, line]))))
