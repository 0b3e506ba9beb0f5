# A command → the same command on a terminal of its own: what it prints there goes to standard output, standard input is typed there, SIGTERM is passed on, its exit code is ours. TERMINAL_SIZE=80x24 sets the terminal's size, which is unknown otherwise.
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios

pid, terminal = pty.fork()
if pid == 0:
    size = os.environ.get("TERMINAL_SIZE")
    if size:
        columns, rows = (int(part) for part in size.split("x"))
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
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
