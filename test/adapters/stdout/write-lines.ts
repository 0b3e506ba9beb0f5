// An argument → a program with a stdout sink, whose outcome goes to standard error.
import { stdoutSink } from '../../../adapters/stdout/stdout.ts';
import { manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { sampleDelivery } from '../sample-deliveries.ts';

const [, , task, padding = '0'] = process.argv;
const adapter = manageAdapter(stdoutSink.create({}, adapterDeps({ stdout: process.stdout })), 'under-test');

/** Delivers until a delivery fails. */
async function untilFailure(): Promise<void> {
  for (let seq = 1; ; seq += 1) {
    const [outcome] = await adapter.deliver(
      [sampleDelivery({ seq, padding: Number(padding) })],
      new AbortController().signal,
    );
    if (outcome instanceof Error)
      return void process.stderr.write(`${outcome.code} ${outcome.disposition} ${outcome.untilRestart}\n`);
  }
}

/** Delivers to a reader that does not read, until standard input has data. */
async function untilStopped(): Promise<void> {
  const controller = new AbortController();
  process.stdin.once('data', () => controller.abort());
  const delivery = adapter.deliver([sampleDelivery({ padding: Number(padding) })], controller.signal);
  process.stderr.write('stuck\n');
  await delivery.catch((error: Error) => process.stderr.write(`${error.name}\n`));
}

await (task === 'until-failure' ? untilFailure() : untilStopped());
await adapter[Symbol.asyncDispose]();
process.exit(0);
