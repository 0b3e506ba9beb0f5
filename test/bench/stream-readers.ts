// A URL, a count, tokens → that many readers in this process, which tell when each event has come.
// Lines on standard output: `open`, then `event ID MS MS …`: of each reader, once all have it.
import net from 'node:net';
import { wallMs } from './clock.ts';

const [url = '', count = '1', ...tokens] = process.argv.slice(2);
const { hostname, port, pathname, host } = new URL(url);
const readers = Number(count);
const seen = new Map<string, number[]>();

// One after the other: who waits for an answer has a place among the connections, of which there are fewer.
for (let reader = 0; reader < readers; reader++) await follow(tokens[reader % tokens.length]);
process.stdout.write('open\n');

/** Bare sockets: what one hundred HTTP clients in one process cost would be counted as the bridge's. */
function follow(token: string | undefined): Promise<void> {
  const proof = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
  return new Promise((resolve) => {
    const socket = net.connect({ host: hostname, port: Number(port) }, () => {
      socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n${proof}\r\n`);
    });
    socket.once('data', (head) => {
      if (!head.toString('latin1').startsWith('HTTP/1.1 200 '))
        throw new Error(`a reader was answered ${head.toString('latin1', 9, 12)}`);
      socket.on('data', (bytes) => {
        const atMs = wallMs();
        // Each event is awaited before the next one is made, and comes in one piece.
        const id = /^id: (\d+)\nevent/.exec(bytes.toString('latin1', 0, 40))?.[1];
        if (id !== undefined) came(id, atMs);
      });
      resolve();
    });
  });
}

function came(id: string, atMs: number): void {
  const moments = seen.get(id) ?? [];
  moments.push(atMs);
  seen.set(id, moments);
  if (moments.length < readers) return;
  seen.delete(id);
  process.stdout.write(`event ${id} ${moments.join(' ')}\n`);
}
