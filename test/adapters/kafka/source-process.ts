// A source's options as JSON in argv → a process that receives and prints a line for each message.
import * as v from 'valibot';
import { kafkaSource } from '../../../adapters/kafka/source/kafka-source.ts';
import { adapterDeps } from '../adapter-deps.ts';

const source = kafkaSource.create(v.parse(kafkaSource.options, JSON.parse(process.argv[2] ?? '')), {
  ...adapterDeps(),
  name: 'ops',
  observerId: 'web_0',
});
await source.receive(
  async ({ body }) => {
    process.stdout.write(`${body === null ? 'null' : Buffer.from(body)}\n`);
    return 'settle';
  },
  new AbortController().signal,
  () => process.stdout.write('ready\n'),
);
