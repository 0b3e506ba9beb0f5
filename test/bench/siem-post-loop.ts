// URL, how many at a time, a file of requests → POSTs of these, twice; the second time's ms.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import type { KeptRequest } from './siem-http.ts';

const [url = '', inFlight = '', file = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number(inFlight) });
const kept = (JSON.parse(readFileSync(file, 'utf8')) as readonly KeptRequest[]).map(({ path, headers, body }) => ({
  url: new URL(path, url),
  headers,
  body: Buffer.from(body, 'base64'),
}));

function post({ url, headers, body }: (typeof kept)[number]): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', agent, headers }, (incoming) => incoming.resume().on('end', resolve));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function all(): Promise<number> {
  const left = [...kept];
  const loop = async () => {
    for (let next = left.shift(); next; next = left.shift()) await post(next);
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: Number(inFlight) }, loop));
  return performance.now() - startedMs;
}

// The bridge, too, has sent as much before it is measured.
await all();
process.stdout.write(`${await all()}\n`);
agent.destroy();
