// URL of the metadata service, interval → for ever: GET over a kept connection, the body read.
// JavaScript, as Node would keep in memory what takes types away.
import { Agent, request } from 'node:http';

const [url, intervalMs] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });

function get() {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${url}/metadata/scheduledevents?api-version=2020-07-01`,
      { agent, headers: { Metadata: 'true' } },
      (incoming) => {
        const chunks = [];
        incoming.on('data', (chunk) => chunks.push(chunk));
        incoming.on('end', () => resolve(Buffer.concat(chunks)));
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}

async function turn() {
  const startedMs = performance.now();
  await get();
  setTimeout(turn, Math.max(0, Number(intervalMs) - (performance.now() - startedMs)));
}

await turn();
