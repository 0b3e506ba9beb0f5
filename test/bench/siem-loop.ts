// A file of sends (SiemSends) → all of them, twice, in a plain loop; milliseconds of the second.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { SiemSends } from './siem.ts';

interface Way extends AsyncDisposable {
  send(bytes: Buffer, { path, headers }: SiemSends['sends'][number]): Promise<void>;
}

const [file = ''] = process.argv.slice(2);
const { way, to, inFlight, settleMs, sends } = JSON.parse(readFileSync(file, 'utf8')) as SiemSends;
const prepared = sends.map((send) => ({ send, bytes: Buffer.from(send.base64, 'base64') }));

function posting(): Way {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  return {
    send: (bytes, { path = '', headers = {} }) =>
      new Promise((resolve, reject) => {
        const outgoing = request(new URL(path, to), { method: 'POST', agent, headers }, (incoming) =>
          incoming.resume().on('end', resolve),
        );
        outgoing.on('error', reject);
        outgoing.end(bytes);
      }),
    [Symbol.asyncDispose]: async () => agent.destroy(),
  };
}

async function appending(): Promise<Way> {
  const target = await open(to, 'a');
  return {
    send: async (bytes) => {
      await target.write(bytes);
      await target.datasync();
    },
    [Symbol.asyncDispose]: () => target.close(),
  };
}

async function streaming(): Promise<Way> {
  const socket = connect({ host: '127.0.0.1', port: Number(to) });
  await once(socket, 'connect');
  return {
    send: (bytes) =>
      new Promise((resolve, reject) => socket.write(bytes, (error) => (error ? reject(error) : resolve()))),
    [Symbol.asyncDispose]: async () => void socket.destroy(),
  };
}

async function all(by: Way): Promise<number> {
  const left = [...prepared];
  const loop = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      await by.send(next.bytes, next.send);
      if (settleMs > 0) await pause(settleMs);
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: inFlight }, loop));
  return performance.now() - startedMs;
}

await using by = await { post: posting, append: appending, stream: streaming }[way]();
// The bridge, too, has sent as much before it is measured.
await all(by);
process.stdout.write(`${await all(by)}\n`);
