// URL, count, how many at once, bytes → POSTs on kept connections; prints the milliseconds taken.
import { Agent, request } from 'node:http';

const [url = '', count = '', inFlight = '', bytes = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number(inFlight) });
const body = Buffer.alloc(Number(bytes), 'x');
const headers = { 'Content-Type': 'application/cloudevents+json', 'Content-Length': body.length };
let left = Number(count);

function post(): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method: 'POST', agent, headers: { ...headers, 'webhook-id': String(left) } },
      (incoming) => {
        incoming.resume().on('end', resolve);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function loop(): Promise<void> {
  while (left-- > 0) await post();
}

const startedMs = performance.now();
await Promise.all(Array.from({ length: Number(inFlight) }, loop));
process.stdout.write(`${performance.now() - startedMs}\n`);
agent.destroy();
