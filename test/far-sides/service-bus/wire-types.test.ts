// Bytes of AMQP values, by rhea or by hand → what the test server reads in them.
import assert from 'node:assert/strict';
import test from 'node:test';
import rhea from 'rhea';
import { type AmqpMessage, readMessage, withApplicationProperties } from './amqp-message.ts';
import { AmqpReader, type AmqpValue } from './amqp-value.ts';
import { encodeProperty } from './rhea-link.ts';
import { matches } from './rules.ts';

const types = rhea.types as unknown as Record<string, (value: unknown, code?: number) => unknown> & {
  Writer: new () => { write(value: unknown): void; toBuffer(): Buffer };
};

function written(value: unknown): Buffer {
  const writer = new types.Writer();
  writer.write(value);
  return writer.toBuffer();
}

const LONG_TEXT = 'ä'.repeat(200);
const VALUES: readonly (readonly [what: string, bytes: Buffer, value: AmqpValue])[] = [
  ['null', written(types['Null']?.(null)), { type: 'null', value: null }],
  ['true', written(types['wrap_boolean']?.(true)), { type: 'boolean', value: true }],
  ['false', written(types['wrap_boolean']?.(false)), { type: 'boolean', value: false }],
  ['a boolean with a byte', Buffer.from([0x56, 1]), { type: 'boolean', value: true }],
  ['ubyte', written(types['wrap_ubyte']?.(200)), { type: 'ubyte', value: 200 }],
  ['ushort', written(types['wrap_ushort']?.(60_000)), { type: 'ushort', value: 60_000 }],
  ['uint 0', written(types['wrap_uint']?.(0)), { type: 'uint', value: 0 }],
  ['smalluint', written(types['wrap_uint']?.(9)), { type: 'uint', value: 9 }],
  ['uint', written(types['wrap_uint']?.(3_000_000_000)), { type: 'uint', value: 3_000_000_000 }],
  ['ulong 0', written(types['wrap_ulong']?.(0)), { type: 'ulong', value: 0 }],
  ['smallulong', written(types['wrap_ulong']?.(9)), { type: 'ulong', value: 9 }],
  ['ulong', written(types['wrap_ulong']?.(2 ** 40)), { type: 'ulong', value: 2 ** 40 }],
  ['a ulong beyond 2^53', Buffer.from('80ffffffffffffffff', 'hex'), { type: 'ulong', value: 2n ** 64n - 1n }],
  ['byte', written(types['wrap_byte']?.(-2)), { type: 'byte', value: -2 }],
  ['short', written(types['wrap_short']?.(-300)), { type: 'short', value: -300 }],
  ['smallint', written(types['wrap_int']?.(-9)), { type: 'int', value: -9 }],
  ['int', written(types['wrap_int']?.(-70_000)), { type: 'int', value: -70_000 }],
  ['smalllong', written(types['wrap_long']?.(9)), { type: 'long', value: 9 }],
  ['long', written(types['wrap_long']?.(-(2 ** 40))), { type: 'long', value: -(2 ** 40) }],
  ['float', written(types['wrap_float']?.(1.5)), { type: 'float', value: 1.5 }],
  ['double', written(types['wrap_double']?.(0.1)), { type: 'double', value: 0.1 }],
  ['char', Buffer.from('730001f600', 'hex'), { type: 'char', value: '😀' }],
  [
    'timestamp',
    written(types['wrap_timestamp']?.(1_650_000_000_123)),
    { type: 'timestamp', value: new Date(1_650_000_000_123) },
  ],
  [
    'uuid',
    Buffer.from('98000102030405060708090a0b0c0d0e0f', 'hex'),
    { type: 'uuid', value: '00010203-0405-0607-0809-0a0b0c0d0e0f' },
  ],
  ['decimal32', Buffer.from('7401020304', 'hex'), { type: 'decimal32', value: Buffer.from('01020304', 'hex') }],
  ['short string', written(types['wrap_string']?.('ä')), { type: 'string', value: 'ä' }],
  ['long string', written(types['wrap_string']?.(LONG_TEXT)), { type: 'string', value: LONG_TEXT }],
  ['symbol', written(types['wrap_symbol']?.('a:b')), { type: 'symbol', value: 'a:b' }],
  ['binary', written(types['wrap_binary']?.(Buffer.from([1, 2]))), { type: 'binary', value: Buffer.from([1, 2]) }],
  ['empty list', written(types['wrap_list']?.([])), { type: 'list', value: [] }],
  ['short list', Buffer.from('c003024142', 'hex'), { type: 'list', value: [bool(true), bool(false)] }],
  [
    'list',
    written(types['wrap_list']?.([true, 'x'])),
    { type: 'list', value: [bool(true), { type: 'string', value: 'x' }] },
  ],
  [
    'map',
    written(types['wrap_map']?.({ k: true })),
    { type: 'map', value: [[{ type: 'string', value: 'k' }, bool(true)]] },
  ],
  [
    'array',
    written(types['wrap_array']?.([1, -1], 0x81)),
    {
      type: 'array',
      value: [
        { type: 'long', value: 1 },
        { type: 'long', value: -1 },
      ],
    },
  ],
];

function bool(value: boolean): AmqpValue {
  return { type: 'boolean', value };
}

for (const [what, bytes, value] of VALUES) {
  test(`${what} keeps its type`, () => {
    const reader = new AmqpReader(bytes);
    assert.deepEqual(reader.read(), value);
    assert.equal(reader.done, true);
  });
}

test('truncated bytes and unknown constructors are not values', () => {
  assert.throws(() => new AmqpReader(Buffer.from([0xa1, 5, 0x61])).read(), RangeError);
  assert.throws(() => new AmqpReader(Buffer.from([0xa1])).read(), RangeError);
  assert.throws(() => new AmqpReader(Buffer.from([0x3f])).read(), /no AMQP constructor: 0x3f/);
  assert.throws(() => readMessage(Buffer.from([0x40])), /a section of type null/);
});

function message(fields: object): AmqpMessage {
  return readMessage(rhea.message.encode(fields));
}

test('bodies are distinguished: data, several data sections, a sequence, a value, nothing', () => {
  const data = rhea.message.data_section(Buffer.from('x'));
  assert.deepEqual(message({ body: data }).body, { kind: 'data', sections: [Buffer.from('x')] });
  const several = rhea.message.data_sections([Buffer.from('a'), Buffer.from('b')]);
  assert.deepEqual(message({ body: several }).body, { kind: 'data', sections: [Buffer.from('a'), Buffer.from('b')] });
  assert.deepEqual(message({ body: 'text' }).body, { kind: 'value', value: { type: 'string', value: 'text' } });
  const sequence = rhea.message.sequence_section([true]);
  assert.deepEqual(message({ body: sequence }).body, {
    kind: 'sequence',
    sections: [{ type: 'list', value: [bool(true)] }],
  });
  assert.deepEqual(readMessage(Buffer.alloc(0)).body, { kind: 'none' });
});

test('a property is added to a message, or replaces another, and the rest keeps its bytes', () => {
  const body = rhea.message.data_section(Buffer.from('{}'));
  const add = (name: string, value: unknown) => ({ name, bytes: encodeProperty(name, value) });
  const bare = withApplicationProperties(message({ message_id: 'm', body }), [add('n', 'new')]);
  assert.deepEqual(bare.applicationProperties, { n: { type: 'string', value: 'new' } });
  const two = withApplicationProperties(message({ application_properties: { keep: 9, n: 'old' }, body }), [
    add('n', 'new'),
  ]);
  assert.deepEqual(two.applicationProperties, {
    keep: { type: 'uint', value: 9 },
    n: { type: 'string', value: 'new' },
  });
  assert.deepEqual([bare.body, two.body], [message({ body }).body, message({ body }).body]);
  assert.equal(bare.properties['message-id']?.value, 'm');
});

test('a filter that the server does not support is an error, not a match', () => {
  const sent = message({ application_properties: { a: 'x', n: 3, f: true }, subject: 's', body: 1 });
  const judge = (sql: string) => matches({ sql }, sent);
  assert.equal(judge("a = 'x' AND n = 3 AND f = TRUE AND sys.label = 's' AND 1=1"), true);
  assert.equal(judge("a <> 'x'"), false);
  assert.equal(judge("missing <> 'x'"), false);
  assert.equal(judge("a = 'it''s'"), false);
  assert.equal(judge('1=0'), false);
  assert.throws(() => judge("a IN ('x')"), /does not read the filter/);
});
