// approvals.sources and their approvers → the configuration, and every fault with its path.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import type { ConfigSurroundings } from '../../../src/config/check-config.ts';
import { jsonSchema } from '../../../src/config/json-schema.ts';
import { ADAPTERS, configOf, faultsOf, OTHER_TOKEN, surroundings, TOKEN } from '../../support/config.ts';
import { MemorySinks } from '../../virtual/memory-sinks.ts';
import { MemorySources } from '../../virtual/memory-source.ts';

const never = new AbortController().signal;
const source = new MemorySources(() => 0).definition(never);
const memory = {
  ...new MemorySinks(() => 0).definition(never),
  source: { ...source, secretFaults: ({ password }: { password?: { reveal(): string } }) => weak(password?.reveal()) },
};
const AROUND: ConfigSurroundings = {
  ...surroundings({ T: TOKEN, U: OTHER_TOKEN, WEAK: 'weak', STRONG: 'strong' }),
  adapters: [...ADAPTERS, memory],
};

function weak(password: string | undefined) {
  return password === 'weak' ? [{ key: 'password', message: 'is weak' }] : [];
}

function approvals(approvers: string, sources: string): string {
  return `{ version: 1, approvals: { approvers: ${approvers}, sources: ${sources} } }`;
}

test('a source has its approver and the options of its type', () => {
  const text = approvals(
    '{ ops: { admin: true }, orders: { token: { env: T } } }',
    '{ topic: { type: memory, approver: ops, password: { env: STRONG } }, queue: { type: memory, approver: orders, readers: one } }',
  );
  const { approvers, sources } = configOf(text, AROUND).approvals;
  assert.deepEqual(Object.keys(sources), ['topic', 'queue']);
  const { topic, queue } = sources;
  assert.ok(topic && queue);
  assert.deepEqual([topic.type, topic.approver, topic.definition], ['memory', 'ops', memory.source]);
  assert.equal((topic.options as { password: { reveal(): string } }).password.reveal(), 'strong');
  assert.equal(queue.definition.readersOf(queue.options), 'one');
  assert.deepEqual(
    Object.entries(approvers).map(([name, { tokens, admin }]) => [name, tokens.length, admin]),
    [
      ['ops', 0, true],
      ['orders', 1, false],
    ],
  );
});

const OPS = '{ ops: {} }';
const FAULTY: readonly [what: string, approvers: string, sources: string, faults: readonly string[]][] = [
  ['a list of sources', OPS, '[]', ['approvals.sources: must be a mapping from names to sources', silent('ops')]],
  ['no mapping', OPS, '{ a: memory }', ['approvals.sources.a: must be a mapping with a type', silent('ops')]],
  ['no type', OPS, '{ a: { approver: ops } }', ['approvals.sources.a.type: is missing (allowed: memory)']],
  [
    'an unknown type',
    OPS,
    '{ a: { type: memori, approver: ops } }',
    ['approvals.sources.a.type: is not a type of source of approvals (allowed: memory); did you mean memory?'],
  ],
  [
    'a type that only sinks have',
    OPS,
    '{ a: { type: webhook, approver: ops } }',
    ['approvals.sources.a.type: is not a type of source of approvals (allowed: memory)'],
  ],
  ['no approver', '{}', '{ a: { type: memory } }', ['approvals.sources.a.approver: is missing']],
  [
    'an approver who is not listed',
    '{ orders: { token: { env: T } } }',
    '{ ops: { type: memory, approver: order } }',
    ['approvals.sources.ops.approver: is not a name in approvals.approvers; did you mean orders?'],
  ],
  [
    'an approver that is no text',
    '{}',
    '{ a: { type: memory, approver: 1 } }',
    ['approvals.sources.a.approver: must be a text, not a number'],
  ],
  [
    'an unknown key',
    OPS,
    '{ a: { type: memory, approver: ops, reader: each } }',
    [
      'approvals.sources.a.reader: is not a key of the configuration (allowed: type, readers, giveBack, password, topic, broken, approver); did you mean readers?',
    ],
  ],
  [
    'a value that its type does not know',
    OPS,
    '{ a: { type: memory, approver: ops, readers: some } }',
    ['approvals.sources.a.readers: is not an allowed value (allowed: each, one)'],
  ],
  [
    'a secret that is not there',
    OPS,
    '{ a: { type: memory, approver: ops, password: { env: NOPE } } }',
    ['approvals.sources.a.password: the environment variable NOPE is not set'],
  ],
  [
    'a secret that shows a fault once it is open',
    OPS,
    '{ a: { type: memory, approver: ops, password: { env: WEAK } } }',
    ['approvals.sources.a.password: is weak'],
  ],
  [
    'a name that is none',
    OPS,
    '{ "a b": { type: memory, approver: ops } }',
    ['approvals.sources.a b: is not a valid name: use 1 to 64 letters, digits, _ or -'],
  ],
  [
    'an approver whom no source names',
    '{ ops: {}, orders: {} }',
    '{ a: { type: memory, approver: ops } }',
    [silent('orders')],
  ],
  [
    'an approver with both token and tokens, whom a source names',
    '{ ops: { token: { env: T }, tokens: [{ env: U }] } }',
    '{ a: { type: memory, approver: ops } }',
    ['approvals.approvers.ops: needs either token or tokens, not both'],
  ],
  [
    'two sources that read the same',
    OPS,
    '{ a: { type: memory, approver: ops, topic: x }, b: { type: memory, approver: ops, topic: y }, c: { type: memory, approver: ops, topic: x } }',
    [
      'approvals.sources.c: reads the same messages as approvals.sources.a, so each message would reach only one of them: use separate queues, or remove one',
    ],
  ],
  [
    'a secret at fault beside it, which is told first',
    OPS,
    '{ a: { type: memory, approver: ops, topic: x }, b: { type: memory, approver: ops, topic: x, password: { env: WEAK } } }',
    ['approvals.sources.b.password: is weak'],
  ],
  [
    'admin that is neither true nor false',
    '{ ops: { admin: 1 } }',
    '{ a: { type: memory, approver: ops } }',
    ['approvals.approvers.ops.admin: must be true or false, not a number'],
  ],
];

function silent(name: string): string {
  return `approvals.approvers.${name}: needs a token, a certificate, a subject, a source in approvals.sources with approver: ${name}, or a sink with approve: ${name}`;
}

for (const [what, approvers, sources, faults] of FAULTY) {
  test(`fault: ${what}`, () => assert.deepEqual(faultsOf(approvals(approvers, sources), AROUND), faults));
}

test('the JSON Schema accepts valid sources, and rejects unknown types, unknown keys and a missing approver', () => {
  const accepts = new Ajv({ strict: false }).compile(jsonSchema(AROUND.adapters));
  const good = '{ a: { type: memory, approver: ops, readers: one } }';
  assert.equal(accepts(parse(approvals(OPS, good))), true, JSON.stringify(accepts.errors));
  for (const bad of [
    '{ a: { type: webhook, approver: ops } }',
    '{ a: { type: memory, approver: ops, reader: one } }',
    '{ a: { type: memory } }',
  ])
    assert.equal(accepts(parse(approvals(OPS, bad))), false, bad);
});

test('an approver of a sink needs no credential, and a sink can approve only for a listed approver', () => {
  const text = (approve: string) =>
    `{ version: 1, approvals: { approvers: { node: {} } }, sinks: { drain: { type: memory, approve: ${approve}, hold: true } } }`;
  assert.deepEqual(Object.keys(configOf(text('node'), AROUND).approvals.approvers), ['node']);
  const [unlisted, silenced] = faultsOf(text('nod'), AROUND);
  assert.deepEqual([unlisted, silenced].map((fault) => fault?.split(':')[0]).sort(), [
    'approvals.approvers.node',
    'sinks.drain.approve',
  ]);
});
