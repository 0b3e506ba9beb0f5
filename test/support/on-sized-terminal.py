# A command, and lines of JSON on standard input → the command on a terminal of 80×24: `{"keys": "…"}` is typed, `{"size": [24, 80]}` resizes.
# What it prints goes to standard output; at its end standard error says if the modes of the terminal are those of before. Its exit code is ours.
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios


def resize(rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


pid, terminal = pty.fork()
if pid == 0:
    sys.stdin.readline()  # the size comes first
    os.execvp(sys.argv[1], sys.argv[1:])

before = termios.tcgetattr(terminal)
resize(24, 80)
os.write(terminal, b"\n")
for name in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(name, lambda number, _: os.kill(pid, number))

typed = b""
sources = [terminal, sys.stdin.fileno()]
while True:
    ready, _, _ = select.select(sources, [], [])
    if terminal in ready:
        try:
            printed = os.read(terminal, 65536)
        except OSError:  # how Linux says that nobody has the terminal open any more
            break
        if not printed:
            break
        os.write(sys.stdout.fileno(), printed)
        try:
            after = termios.tcgetattr(terminal)
        except termios.error:
            pass
    if sys.stdin.fileno() in ready:
        chunk = os.read(sys.stdin.fileno(), 65536)
        if not chunk:
            sources.remove(sys.stdin.fileno())
        *lines, typed = (typed + chunk).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if "keys" in order:
                os.write(terminal, order["keys"].encode())
            if "size" in order:
                resize(*order["size"])

code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
try:
    after = termios.tcgetattr(terminal)
except termios.error:
    pass
print("the terminal is as before" if after == before else f"the terminal has changed: {before} {after}", file=sys.stderr)
sys.exit(code)
