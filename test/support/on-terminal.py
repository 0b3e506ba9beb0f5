# A command → the same command on a terminal of its own: what it prints there goes to standard output, standard input is typed there, SIGTERM is passed on, its exit code is ours.
import os
import pty
import select
import signal
import sys

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))

sources = [terminal, sys.stdin.fileno()]
while True:
    readable, _, _ = select.select(sources, [], [])
    if sys.stdin.fileno() in readable:
        typed = os.read(sys.stdin.fileno(), 4096)
        if typed:
            os.write(terminal, typed)
        else:  # the end of our input is not the end of the terminal's
            sources.remove(sys.stdin.fileno())
    if terminal not in readable:
        continue
    try:
        printed = os.read(terminal, 4096)
    except OSError:  # how Linux says that nobody has the terminal open any more
        break
    if not printed:
        break
    os.write(sys.stdout.fileno(), printed)

sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
