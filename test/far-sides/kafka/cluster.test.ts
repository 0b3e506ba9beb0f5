// Clusters of a test's own → what survives a kill; nothing is left of them, however tests end.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';
import { Kafka as Client, logLevel, Partitioners } from 'kafkajs';
import { poll } from '../../support/poll.ts';
import { logEnd } from './broker-log.ts';
import { Cluster } from './cluster.ts';
import { readTopic } from './records.ts';
import { readMetadata } from './requests.ts';
import { withoutOurKafka } from './shared-kafka.ts';

async function write(brokers: readonly string[], topic: string, values: readonly string[]): Promise<void> {
  const client = new Client({ brokers: [...brokers], logLevel: logLevel.NOTHING });
  const producer = client.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  await producer.send({ topic, messages: values.map((value) => ({ value })) });
  await producer.disconnect();
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a killed broker restarts at its address with its data, keeps its connections while it is frozen, and is removed with its data', {
  skip: withoutOurKafka,
}, async () => {
  const cluster = await Cluster.launch();
  const [brokers, broker] = [cluster.addresses(), cluster.broker(1)];
  await cluster.createTopic('kept', { partitions: 2 });
  await write(brokers, 'kept', ['a']);
  await broker.kill();
  assert.equal(broker.pid, undefined);
  await assert.rejects(readMetadata(broker.address()), { code: 'ECONNREFUSED' });
  await broker.start();
  await write(brokers, 'kept', ['b']);
  assert.deepEqual((await readTopic(brokers, 'kept')).map(({ value }) => value).sort(), ['a', 'b']);
  broker.freeze();
  const asked = readMetadata(broker.address());
  await assert.rejects(readMetadata(broker.address(), [], AbortSignal.timeout(200)), { name: 'TimeoutError' });
  broker.thaw();
  assert.deepEqual((await asked).brokers, [{ nodeId: 1, address: broker.address() }]);
  const { pid, logFile } = broker;
  assert.ok(pid && isAlive(pid));
  assert.match(logEnd(logFile), /Kafka Server started/);
  await cluster[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
  assert.ok(!isAlive(pid));
  assert.ok(!existsSync(dirname(dirname(logFile))));
});

test('a broker that does not start reports the reason, with the end of its log', {
  skip: withoutOurKafka,
}, async () => {
  const launched = Cluster.launch({ properties: { 'metric.reporters': 'no.such.Reporter' } });
  await assert.rejects(launched, /broker 1 did not start: it ended; the end of its log:\n(.|\n)*no\.such\.Reporter/);
});

test('storage that cannot be formatted reports the reason', { skip: withoutOurKafka }, async () => {
  await assert.rejects(Cluster.launch({ properties: { 'num.io.threads': '0' } }), /num\.io\.threads/);
});

test('when its process is killed, the broker and its data are removed too', { skip: withoutOurKafka }, async () => {
  const script = `import { Cluster } from '${import.meta.dirname}/cluster.ts';
    const broker = (await Cluster.launch()).broker(1);
    console.log(JSON.stringify({ pid: broker.pid, log: broker.logFile }));
    setInterval(() => {}, 1_000_000);`;
  const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(parent.stdout), 'line')) as [string];
  const { pid, log } = JSON.parse(line) as { pid: number; log: string };
  assert.ok(isAlive(pid) && existsSync(log));
  parent.kill('SIGKILL');
  await poll(() => !isAlive(pid) && !existsSync(dirname(dirname(log))), 'the broker to end');
});
