// Ports and a seed → connections that misbehave for some time, and what those were told that read.
import { setTimeout as pause } from 'node:timers/promises';
import { RawConnection } from '../../support/raw-connection.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { type Manner, mannerOf } from './manner.ts';

const AT_ONCE = 150;
const MOST = 20_000;

export interface Siege {
  readonly connections: number;
  /** What came and does not begin as an answer of HTTP does. */
  readonly oddities: readonly string[];
}

/** @param seed of what is said; what comes of it depends on the machine as well */
export async function siege(ports: readonly number[], seed: number, lastsMs: number): Promise<Siege> {
  const draw = new VirtualTime({ seed }).random;
  const untilMs = performance.now() + lastsMs;
  const oddities: string[] = [];
  let connections = 0;
  const besieger = async () => {
    while (performance.now() < untilMs && connections < MOST) {
      const port = ports[connections % ports.length] as number;
      const manner = mannerOf(draw);
      connections += manner.atOnce;
      const texts = Array.from({ length: manner.atOnce }, (_, index) =>
        play(port, `127.0.0.${1 + index}`, manner, untilMs),
      );
      for (const text of await Promise.all(texts))
        if (text !== '' && !text.startsWith('HTTP/1.1 ')) oddities.push(text.slice(0, 100));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, besieger));
  return { connections, oddities };
}

/** @returns all that was read */
async function play(
  port: number,
  localAddress: string,
  { pieces, reads, end, stayMs }: Manner,
  untilMs: number,
): Promise<string> {
  const connection = new RawConnection(port, { localAddress });
  const { socket } = connection;
  if (reads) connection.read();
  for (const piece of pieces) {
    if (connection.isClosed) break;
    socket.write(piece);
    if (pieces.length > 1) await pause(1);
  }
  if (end === 'half-closes') socket.end();
  if (end === 'stays' || end === 'half-closes') await leave(connection, Math.min(stayMs, untilMs - performance.now()));
  else await pause(1);
  if (end === 'resets') socket.resetAndDestroy();
  else socket.destroy();
  return connection.text;
}

/** Until it is closed, for so long at most. */
async function leave(connection: RawConnection, stayMs: number): Promise<void> {
  const endMs = performance.now() + stayMs;
  while (!connection.isClosed && performance.now() < endMs) await pause(50);
}
