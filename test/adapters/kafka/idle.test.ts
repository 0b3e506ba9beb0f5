// A producer on the real broker, with nothing to send → nothing that would wake the process.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kafkaClients } from '../../../adapters/kafka/client/kafka-client.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { sharedKafka, withoutKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { adapterDeps } from '../adapter-deps.ts';

const timers = () =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind === 'Immediate').length;

test('a connected producer with nothing to send sets no timer, so that the process sleeps', {
  skip: withoutKafka,
}, async (t) => {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic();
  const before = timers();
  const brokers = kafka.brokers.map((address) => ({
    host: address.split(':')[0] ?? '',
    port: Number(address.split(':')[1]),
  }));
  let armed = 0;
  const { after, ...time } = systemDeps();
  const counting: typeof after = (delayMs, run) => {
    armed += 1;
    const cancel = after(delayMs, () => {
      armed -= 1;
      run();
    });
    return () => {
      armed -= 1;
      cancel();
    };
  };
  const deps = adapterDeps({ time: { ...time, after: counting } });
  const client = await kafkaClients({ clientId: 'idle', allowInsecure: false, brokers }, deps, 'sinks.idle')();
  const producer = client.producer({ allowAutoTopicCreation: false, createPartitioner: () => () => 0 });
  t.after(() => producer.disconnect());
  await producer.connect();
  await producer.send({ topic, acks: -1, messages: [{ value: 'x', partition: 0 }] });
  assert.equal(armed, 0);
  assert.equal(timers(), before);
});
