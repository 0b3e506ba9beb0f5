// A message that is not an approval → the known event that it names.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { eventNamedIn } from '../../../../src/approvals/requests/named-event.ts';
import { toCloudEvent } from '../../../../src/cloudevents/event.ts';
import { context } from '../../cloudevents/changes.ts';
import { everyChange } from '../../consumer/deliveries.ts';

const KNOWN = ['a', 'b', 'c7061bac-afdc-4513-b24b-aa5f13a16123'];

function namedIn(message: unknown): string | null {
  const bytes = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
  return eventNamedIn(bytes, (key) => KNOWN.includes(key));
}

function base64Of(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

const CLOUD_EVENT = { specversion: '1.0', id: '1', source: '/workflow', type: 'com.example.approved' };

for (const [message, named] of [
  [{ EventId: 'A' }, 'A'],
  [{ eventid: 'a' }, 'a'],
  [{ approvals: [{ by: 'x' }, { event: { EVENTID: 'b', status: 'ok' } }] }, 'b'],
  [{ EventId: 'unknown', nested: { EventId: 'b' }, more: { EventId: 'a' } }, 'b'],
  [{ first: { deep: [[{ eventId: 'a' }]] }, EventId: 'b' }, 'a'],
  [{ StartRequests: [{ EventId: 'a', Seen: 1 }] }, 'a'],
  [{ ...CLOUD_EVENT, data: { eventId: 'a', approved: true } }, 'a'],
  [{ ...CLOUD_EVENT, data_base64: base64Of({ eventId: 'a' }) }, 'a'],
  [{ note: null, EventId: 'a' }, 'a'],
  [{ ...CLOUD_EVENT, type: 7, data: { eventId: 'a' } }, 'a'],
  [{ eventId: 'a', at: '2026-01-01T00:00:00Z' }, 'a'],
  [{ observer: { id: 'x' }, nested: { eventId: 'a' } }, 'a'],
  [{ observer: { id: 'x' }, eventId: 'a' }, 'a'],
  [{ observer: { id: 'x' }, eventId: 'a', eventStatus: 'Scheduled' }, 'a'],
  [{ observer: { id: 'x' }, eventId: 'a', resources: [] }, 'a'],
  [{ ...CLOUD_EVENT, data_base64: base64Of([{ eventId: 'a' }]) }, null],
  [{ ...CLOUD_EVENT, data_base64: base64Of(null) }, null],
  [{ ...CLOUD_EVENT, data_base64: 'e30' }, null],
  [{ EventId: ['a'], EventIds: 'a', Event_Id: 'a', id: 'a' }, null],
  [{ EventId: 'unknown' }, null],
  [{}, null],
  [[{ EventId: 'a' }], null],
  ['"a"', null],
  ['{"EventId":"a"', null],
] as const) {
  test(`${JSON.stringify(message)} names ${named}`, () => assert.equal(namedIn(message), named));
}

test('what a bridge has published names no event, in any mode', () => {
  for (const change of everyChange()) {
    const event = toCloudEvent(change, { ...context, typePrefix: 'com.example.other-prefix' });
    for (const published of [
      event,
      event.data,
      // As Dapr and others pass CloudEvents on.
      { ...CLOUD_EVENT, type: 'com.dapr.event.sent', data: event },
      { ...CLOUD_EVENT, data_base64: base64Of(event) },
      JSON.parse(JSON.stringify(event), (_, value) => value ?? undefined),
      { ...event, data: { ...(event.data as object), memberOfALaterVersion: { EventId: 'a' } } },
    ])
      assert.equal(namedIn(published), null, JSON.stringify(published));
  }
});

test('an answer that repeats what a bridge has published names the event', () => {
  const [scheduled] = everyChange().map((change) => toCloudEvent(change, context));
  for (const answer of [
    { approved: true, event: scheduled },
    { ...CLOUD_EVENT, data: scheduled?.data },
    { ...CLOUD_EVENT, data: { approved: true, event: scheduled } },
  ])
    assert.equal(namedIn(answer), 'C7061BAC-AFDC-4513-B24B-AA5F13A16123', JSON.stringify(answer));
});

test('1 MiB and 20,000 values are searched, more are not, and depth does not matter', () => {
  const message = JSON.stringify({ EventId: 'a' });
  assert.equal(namedIn(message.padEnd(1024 * 1024)), 'a');
  assert.equal(namedIn(message.padEnd(1024 * 1024 + 1)), null);
  const nested = (levels: number) => `{"x":${'['.repeat(levels)}${message}${']'.repeat(levels)}}`;
  assert.equal(namedIn(nested(19_000)), 'a');
  assert.equal(namedIn(nested(20_000)), null);
  assert.equal(namedIn(`{"x":[${'{},'.repeat(10_000)}${message}]}`), null);
});

test('the first member in the order of the text counts', () => {
  const keys = fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('p', 'q', 'r') });
  const tree = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      fc.record({ EventId: fc.constantFrom('a', 'b', 'x') }),
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(keys, tie('node'), { maxKeys: 3 }),
    ),
  })).node;
  fc.assert(
    fc.property(tree, (node) => {
      const message = { node };
      const first = /"EventId":"([ab])"/.exec(JSON.stringify(message))?.[1] ?? null;
      assert.equal(namedIn(message), first);
    }),
    { numRuns: 500 },
  );
});
