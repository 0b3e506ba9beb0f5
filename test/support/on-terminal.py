# A command → the same command on a terminal of its own: what it prints there goes to standard output, SIGTERM is passed on, its exit code is ours.
import os
import pty
import signal
import sys

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))

while True:
    try:
        printed = os.read(terminal, 4096)
    except OSError:  # how Linux says that nobody has the terminal open any more
        break
    if not printed:
        break
    os.write(sys.stdout.fileno(), printed)

sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
