// CloudEvents of a drill and of a real event, in each mode → what `isDrill` says of them.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { CloudEvent } from '../../../src/consumer/event.ts';
import { readBinary, readStructured, withDrill } from '../../../src/consumer/read-event.ts';

const ATTRIBUTES = { specversion: '1.0', id: '1', source: '/s', type: 'com.example.any' };

test('a drill is told apart in structured mode, and in binary mode, where its attribute is a text', () => {
  assert.equal(readStructured({ ...ATTRIBUTES, drill: true, data: {} }).isDrill, true);
  const binary = readBinary({ attributes: { ...ATTRIBUTES, drill: 'true' }, contentType: undefined, data: undefined });
  assert.deepEqual([binary.isDrill, binary.drill], [true, true]);
});

test('an attribute that is a boolean already, as AMQP has them, stays what it is', () => {
  for (const drill of [true, false]) {
    const event = readBinary({ attributes: { ...ATTRIBUTES, drill }, contentType: undefined, data: undefined });
    assert.deepEqual([event.drill, event.isDrill], [drill, drill]);
  }
});

test('an event without the attribute, or one that says no, is none', () => {
  assert.equal(readStructured({ ...ATTRIBUTES, data: {} }).isDrill, false);
  assert.equal(readStructured({ ...ATTRIBUTES, drill: false, data: {} }).isDrill, false);
  assert.equal(readBinary({ attributes: { ...ATTRIBUTES, drill: 'false' }, contentType: undefined, data: undefined }).isDrill, false);
});

test('one made by hand is judged by its attribute, and what somebody has said of it stands', () => {
  const event = { ...ATTRIBUTES, specversion: '1.0', data: {} } as const;
  assert.equal(withDrill({ ...event, drill: true } satisfies CloudEvent).isDrill, true);
  assert.equal(withDrill({ ...event, isDrill: true } satisfies CloudEvent).isDrill, true);
  assert.equal(withDrill({ ...event } satisfies CloudEvent).isDrill, false);
});

test('it is no member of the CloudEvent', () => {
  assert.equal(JSON.stringify(readStructured({ ...ATTRIBUTES, data: {} })), JSON.stringify({ ...ATTRIBUTES, data: {} }));
});
