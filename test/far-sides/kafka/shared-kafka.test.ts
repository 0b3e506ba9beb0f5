// The Kafka that all tests share → whom each listener lets in; names that keep tests apart.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { Kafka as Client, logLevel, type SASLOptions } from 'kafkajs';
import { readMetadata } from './requests.ts';
import { USERS, unsecuredToken } from './security.ts';
import type { Listener } from './server-properties.ts';
import { type Kafka, sharedKafka, withoutKafka, withoutOurKafka } from './shared-kafka.ts';

interface Entry {
  readonly sasl?: SASLOptions;
  readonly certificate?: boolean;
}

/** Sends one record, once. */
async function send(
  t: TestContext,
  kafka: Kafka,
  listener: Listener,
  topic: string,
  { sasl, certificate }: Entry = {},
): Promise<void> {
  const { ca, client } = kafka.certificates;
  const tls = { ca: readFileSync(ca), ...(certificate && { cert: client.cert, key: client.key }) };
  const producer = new Client({
    brokers: [...kafka.listener(listener)],
    logLevel: logLevel.NOTHING,
    retry: { retries: 0 },
    ...(listener.endsWith('TLS') && { ssl: tls }),
    ...(sasl && { sasl }),
  }).producer({ allowAutoTopicCreation: false });
  t.after(() => producer.disconnect());
  await producer.connect();
  await producer.send({ topic, messages: [{ value: 'x' }] });
}

const MECHANISMS: readonly SASLOptions[] = [
  { mechanism: 'plain', username: 'writer', password: USERS.writer },
  { mechanism: 'scram-sha-256', username: 'writer', password: USERS.writer },
  { mechanism: 'scram-sha-512', username: 'writer', password: USERS.writer },
  { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: unsecuredToken('writer') }) },
];

for (const listener of ['SASL', 'SASL_TLS'] as const) {
  for (const sasl of MECHANISMS) {
    test(`${listener} lets a user in by ${sasl.mechanism}`, { skip: withoutOurKafka }, async (t) => {
      const kafka = await sharedKafka(t);
      await send(t, kafka, listener, await kafka.createTopic(), { sasl });
    });
  }
}

test('every mechanism with a password rejects a wrong one', { skip: withoutOurKafka }, async (t) => {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic();
  for (const mechanism of ['plain', 'scram-sha-256', 'scram-sha-512'] as const) {
    const sasl: SASLOptions = { mechanism, username: 'writer', password: USERS.reader };
    await assert.rejects(
      send(t, kafka, 'SASL', topic, { sasl }),
      { name: 'KafkaJSSASLAuthenticationError' },
      mechanism,
    );
  }
});

test('an expired token is refused', { skip: withoutOurKafka }, async (t) => {
  const kafka = await sharedKafka(t);
  const value = unsecuredToken('writer', { nowMs: Date.now() - 7_200_000 });
  const sasl: SASLOptions = { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value }) };
  // kafkajs does not answer the broker's refusal, which RFC 7628 asks for, and goes on to its first request.
  await assert.rejects(
    send(t, kafka, 'SASL', await kafka.createTopic(), { sasl }),
    /not valid given the current SASL state/,
  );
});

test('only MTLS requires a client certificate', { skip: withoutOurKafka }, async (t) => {
  const kafka = await sharedKafka(t);
  const topic = await kafka.createTopic();
  await send(t, kafka, 'TLS', topic);
  await send(t, kafka, 'MTLS', topic, { certificate: true });
  await assert.rejects(send(t, kafka, 'MTLS', topic));
});

test('a rule denies one user one topic, and no other', { skip: withoutOurKafka }, async (t) => {
  const kafka = await sharedKafka(t);
  const [denied, other] = [await kafka.createTopic(), await kafka.createTopic()];
  await kafka.deny({ resource: 'topic', name: denied, user: 'writer', operation: 'write' });
  const sasl: SASLOptions = { mechanism: 'plain', username: 'writer', password: USERS.writer };
  await assert.rejects(send(t, kafka, 'SASL', denied, { sasl }), /Not authorized/);
  await send(t, kafka, 'SASL', other, { sasl });
  await send(t, kafka, 'PLAINTEXT', denied);
});

test('each topic is new, with the requested partitions', { skip: withoutKafka }, async (t) => {
  const kafka = await sharedKafka(t);
  const [one, six] = [await kafka.createTopic(), await kafka.createTopic({ partitions: 6 })];
  assert.notEqual(one, six);
  const { topics } = await readMetadata(kafka.address, [one, six, kafka.uniqueName('never-made')]);
  assert.deepEqual(
    [...topics].map(([name, partitions]) => [name, partitions.length]).sort(),
    [
      [one, 1],
      [six, 6],
    ].sort(),
  );
});
