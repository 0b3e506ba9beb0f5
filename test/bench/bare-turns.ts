// Metadata URL, file, interval → for ever GET; on a new answer a write and `send`, told (timed.ts).
// 4 KB go to the disk for each new answer. What any program that loses nothing has to do at least.
import { fdatasyncSync, openSync, writeSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { sharedMs } from './clock.ts';
import { tell } from './timed.ts';

/** Resolves once it has begun. Ends with SIGTERM. */
export async function takeTurns(send: (document: Buffer) => Promise<unknown>): Promise<void> {
  const [metadataUrl = '', file = '', intervalMs = ''] = process.argv.slice(2);
  const agent = new Agent({ keepAlive: true });
  const written = openSync(file, 'a');
  const block = Buffer.alloc(4096, 'x');
  const read = () => readDocument(`${metadataUrl}/metadata/scheduledevents?api-version=2020-07-01`, agent);
  let last = await read();
  const turn = async () => {
    const startedMs = performance.now();
    const document = await read();
    if (!document.equals(last)) {
      last = document;
      writeSync(written, block);
      fdatasyncSync(written);
      const fromMs = sharedMs();
      await send(document);
      tell(1, fromMs);
    }
    setTimeout(turn, Math.max(0, Number(intervalMs) - (performance.now() - startedMs)));
  };
  process.on('SIGTERM', () => process.exit(0));
  await turn();
}

function readDocument(url: string, agent: Agent): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const outgoing = get(url, { agent, headers: { Metadata: 'true' } }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => resolve(Buffer.concat(chunks)));
    });
    outgoing.on('error', reject);
  });
}
