# A command → the same command on a terminal of its own: standard input is typed there, what it prints there goes to standard output, SIGTERM is passed on, its exit code is ours.
import os
import pty
import select
import signal
import sys

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))

typed = [sys.stdin.fileno()]
while True:
    ready, _, _ = select.select([terminal, *typed], [], [])
    if typed and typed[0] in ready:
        keys = os.read(typed[0], 4096)
        if keys:
            os.write(terminal, keys)
        else:
            typed = []
    if terminal not in ready:
        continue
    try:
        printed = os.read(terminal, 4096)
    except OSError:  # how Linux says that nobody has the terminal open any more
        break
    if not printed:
        break
    os.write(sys.stdout.fileno(), printed)

sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
