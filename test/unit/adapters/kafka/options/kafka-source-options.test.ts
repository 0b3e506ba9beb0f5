// A Kafka topic's keys as a source of approvals → options, and the faults that a sink has not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADAPTERS } from '../../../../../adapters/index.ts';
import type { KafkaSourceOptions } from '../../../../../adapters/kafka/options/kafka-source-options.ts';
import { configOf, faultsOf, surroundings } from '../../../../support/config.ts';

const AROUND = { ...surroundings({ PASSWORD: 'a-password-of-16' }), adapters: ADAPTERS };

const config = (keys: string) =>
  `version: 1\napprovals: { approvers: { ops: {} }, sources: { topic: { type: kafka, approver: ops, ${keys} } } }`;

function optionsOf(keys: string): KafkaSourceOptions {
  return configOf(config(keys), AROUND).approvals.sources['topic']?.options as KafkaSourceOptions;
}

test('brokers and a topic are enough; every bridge reads then, in the group of its VM', () => {
  const { topic, readers, groupId } = optionsOf('brokers: ["localhost:9092"], topic: approvals');
  assert.deepEqual({ topic, readers, groupId }, { topic: 'approvals', readers: 'each', groupId: undefined });
});

test('the connection keys are those of a sink', () => {
  const keys = [
    'brokers: ["kafka.example.com:9093"], topic: approvals, readers: one, groupId: bridges, clientId: web, timeout: 5s, ssl: true',
    'sasl: { mechanism: scram-sha-512, username: web, password: { env: PASSWORD } }',
  ];
  const { readers, groupId, timeout } = optionsOf(keys.join());
  assert.deepEqual({ readers, groupId, timeout }, { readers: 'one', groupId: 'bridges', timeout: 5_000 });
});

/** Keys of a source → where the fault is, and what it says. */
const FAULTS: readonly (readonly [keys: string, path: string, says: RegExp])[] = [
  ['brokers: ["localhost:9092"]', 'topic', /missing/],
  ['brokers: ["localhost:9092"], topic: "a topic"', 'topic', /letters, digits/],
  ['brokers: ["localhost:9092"], topic: ".."', 'topic', /letters, digits/],
  ['brokers: ["localhost"], topic: approvals', 'brokers[0]', /port/],
  ['brokers: ["localhost:9092"], topic: approvals, groupId: ""', 'groupId', /empty/],
  ['brokers: ["localhost:9092"], topic: approvals, groupId: 5', 'groupId', /./],
  [`brokers: ["localhost:9092"], topic: approvals, groupId: ${'g'.repeat(250)}`, 'groupId', /249/],
  ['brokers: ["localhost:9092"], topic: approvals, readers: all', 'readers', /each or one/],
  ['brokers: ["localhost:9092"], topic: approvals, readers: one', 'groupId', /the same groupId/],
  [
    'brokers: ["localhost:9092"], topic: approvals, createTopic: { partitions: 1, replicationFactor: 1 }',
    'createTopic',
    /./,
  ],
  ['brokers: ["localhost:9092"], topic: approvals, mode: binary', 'mode', /./],
];

for (const [keys, path, says] of FAULTS) {
  test(`\`${keys.slice(0, 100)}\` is a fault of ${path}`, () => {
    const faults = faultsOf(config(keys), AROUND);
    assert.equal(faults.length, 1, faults.join('\n'));
    const [fault = ''] = faults;
    assert.equal(fault.split(': ')[0], `approvals.sources.topic.${path}`);
    assert.match(fault, says);
  });
}

test('a source that names no cluster is a fault as a whole', () => {
  const [fault = '', ...others] = faultsOf(config('topic: approvals'), AROUND);
  assert.match(fault, /^approvals\.sources\.topic: needs brokers, .*, or the connectionString/);
  assert.deepEqual(others, []);
});

const TWO: readonly (readonly [what: string, first: string, second: string, isFault: boolean])[] = [
  ['the same topic in the default group', 'brokers: ["a:1", "b:1"], topic: t', 'brokers: ["b:1"], topic: t', true],
  [
    'the same topic in the same group',
    'brokers: ["a:1"], topic: t, groupId: g',
    'brokers: ["a:1"], topic: t, groupId: g, readers: one',
    true,
  ],
  ['groups of their own', 'brokers: ["a:1"], topic: t', 'brokers: ["a:1"], topic: t, groupId: g', false],
  ['topics of their own', 'brokers: ["a:1"], topic: t', 'brokers: ["a:1"], topic: u', false],
  ['clusters of their own', 'brokers: ["a:1"], topic: t', 'brokers: ["b:1"], topic: t', false],
];

for (const [what, first, second, isFault] of TWO) {
  test(`two sources with ${what} ${isFault ? 'would share their messages, which is a fault' : 'read apart'}`, () => {
    const [one, two] = [first, second].map((keys) => `{ type: kafka, approver: ops, ${keys} }`);
    const faults = faultsOf(
      `version: 1\napprovals: { approvers: { ops: {} }, sources: { one: ${one}, two: ${two} } }`,
      AROUND,
    );
    assert.deepEqual(
      faults.map((fault) => fault.split(',')[0]),
      isFault ? ['approvals.sources.two: reads the same messages as approvals.sources.one'] : [],
    );
  });
}

test('a password that is empty or not there is a fault of its own', () => {
  const sasl = (name: string) =>
    `brokers: ["localhost:9092"], topic: approvals, sasl: { mechanism: plain, username: web, password: { env: ${name} } }`;
  assert.deepEqual(faultsOf(config(sasl('PASSWORD')), AROUND), []);
  assert.equal(faultsOf(config(sasl('NOWHERE')), AROUND).length, 1);
});
