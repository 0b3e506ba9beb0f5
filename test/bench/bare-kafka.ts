// URL of the metadata service, brokers, topic, file, interval → for ever: GET; where the answer is another one, 4 KB to the disk, a bare kafkajs `send`
// of a record with acks=all, told as kafka-timed.ts tells its deliveries. What any program that loses nothing has to do at least.
import { fdatasyncSync, openSync, writeSync } from 'node:fs';
import { Agent, get } from 'node:http';
import kafkajs from 'kafkajs';
import { sharedMs } from './clock.ts';

const [metadataUrl = '', brokers = '', topic = '', file = '', intervalMs = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const written = openSync(file, 'a');
const block = Buffer.alloc(4096, 'x');
const client = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
const producer = client.producer({ allowAutoTopicCreation: false, createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
/** As many, and as long, as those of such a change. */
const headers = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`ce_attribute${index}`, 'an attribute of some length']));

function read(): Promise<Buffer> {
  const url = `${metadataUrl}/metadata/scheduledevents?api-version=2020-07-01`;
  return new Promise((resolve, reject) => {
    const outgoing = get(url, { agent, headers: { Metadata: 'true' } }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => resolve(Buffer.concat(chunks)));
    });
    outgoing.on('error', reject);
  });
}

async function turn(): Promise<void> {
  const startedMs = performance.now();
  const document = await read();
  if (!document.equals(last)) {
    last = document;
    writeSync(written, block);
    fdatasyncSync(written);
    const fromMs = sharedMs();
    await producer.send({ topic, acks: -1, messages: [{ key: 'key', value: document, headers }] });
    process.stderr.write(`deliveries 1 from ${fromMs} to ${sharedMs()}\n`);
  }
  setTimeout(turn, Math.max(0, Number(intervalMs) - (performance.now() - startedMs)));
}

await producer.connect();
let last = await read();
process.on('SIGTERM', () => process.exit(0));
await turn();
