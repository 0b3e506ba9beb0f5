// Metadata URL, receiver URL, file, interval → for ever GET; on a new answer a write and a POST.
// 4 KB go to the disk for each new answer. What any program that loses nothing has to do at least.
import { fdatasyncSync, openSync, writeSync } from 'node:fs';
import { Agent, request } from 'node:http';

const [metadataUrl = '', hookUrl = '', file = '', intervalMs = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const written = openSync(file, 'a');
const block = Buffer.alloc(4096, 'x');
let last: Buffer = Buffer.alloc(0);

function exchange(method: string, url: string, body?: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = body ? { 'Content-Type': 'application/json', 'Content-Length': body.length } : { Metadata: 'true' };
    const outgoing = request(url, { method, agent, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => resolve(Buffer.concat(chunks)));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function turn(): Promise<void> {
  const startedMs = performance.now();
  const document = await exchange('GET', `${metadataUrl}/metadata/scheduledevents?api-version=2020-07-01`);
  if (!document.equals(last)) {
    last = document;
    writeSync(written, block);
    fdatasyncSync(written);
    await exchange('POST', hookUrl, document);
  }
  setTimeout(turn, Math.max(0, Number(intervalMs) - (performance.now() - startedMs)));
}

await turn();
