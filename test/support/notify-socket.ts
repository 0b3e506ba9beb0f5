// A unix datagram socket as systemd has it → the messages that a service sends; python3 holds it.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { folderOf } from './folder.ts';
import { poll } from './poll.ts';

/** What comes along, as the barrier of systemd-notify, is closed at once, which lets it end. */
const RECEIVER = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1])
while True:
    data, fds, _, _ = socket.recv_fds(s, 65536, 8)
    for fd in fds: os.close(fd)
    for line in data.decode().splitlines(): print(line, flush=True)
`;

export class NotifySocket {
  readonly path: string;
  readonly #child: ChildProcess;
  /** Each assignment, in order. */
  readonly told: string[] = [];

  private constructor(path: string) {
    this.path = path;
    this.#child = spawn('python3', ['-c', RECEIVER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    let rest = '';
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      this.told.push(...lines);
    });
  }

  static async open(t: TestContext): Promise<NotifySocket> {
    const socket = new NotifySocket(join(folderOf(t), 'notify'));
    t.after(() => socket.#child.kill());
    await poll(() => existsSync(socket.path), 'the socket');
    return socket;
  }

  /** Resolves once it was told this. */
  async hears(assignment: string): Promise<void> {
    await poll(() => this.told.includes(assignment), `${assignment} among ${JSON.stringify(this.told)}`);
  }
}
