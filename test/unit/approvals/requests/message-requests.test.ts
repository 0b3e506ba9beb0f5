// A message's bytes, plain or a CloudEvent → the body of an approval, or why it is none.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  type MessageRequests,
  parseMessageBody,
  readMessageRequests,
  withoutOtherDrills,
} from '../../../../src/approvals/requests/message-requests.ts';

const BODY = { StartRequests: [{ EventId: 'a' }] };

function parsed(body: unknown) {
  return parseMessageBody(new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)));
}

function cloudEvent(more: object): object {
  return { specversion: '1.0', id: '1', source: '/workflow', type: 'com.example.approved', ...more };
}

test('the body is taken plain, and as data or data_base64 of a CloudEvent', () => {
  const base64 = Buffer.from(JSON.stringify(BODY)).toString('base64');
  for (const body of [BODY, cloudEvent({ data: BODY }), cloudEvent({ data_base64: base64 })])
    assert.deepEqual(parsed(body), { value: BODY }, JSON.stringify(body));
});

test('a plain body may have other keys, even those of a CloudEvent', () => {
  const body = { ...BODY, DocumentIncarnation: 3, specversion: '1.0' };
  assert.deepEqual(parsed(body), { value: body });
});

test('a member that is null counts as absent, at any depth', () => {
  const body = { StartRequests: [{ EventId: 'a', Seen: null }], Holds: null, Releases: null };
  const base64 = Buffer.from(JSON.stringify(body)).toString('base64');
  for (const sent of [
    body,
    { ...body, specversion: null },
    cloudEvent({ data: body, data_base64: null }),
    cloudEvent({ data: null, data_base64: base64 }),
  ])
    assert.deepEqual(parsed(sent), { value: BODY }, JSON.stringify(sent));
  const hold = { Holds: [{ EventId: 'a', reason: null }], StartRequests: null };
  assert.deepEqual(readMessageRequests(new TextEncoder().encode(JSON.stringify(hold))), {
    ...{ starts: [], holds: [{ eventId: 'a', key: 'a', reason: null }], releases: [] },
  });
});

test('JSON that is not an object is left to the parser of StartRequests', () => {
  for (const body of [[], [cloudEvent({ data: BODY })], 'null', '1', '"text"'])
    assert.deepEqual(parsed(body), { value: typeof body === 'string' ? JSON.parse(body) : body });
  assert.deepEqual(parsed(cloudEvent({ data: 'text' })), { value: 'text' });
});

const BAD: readonly [told: RegExp, body: unknown][] = [
  [/has no body/, ''],
  [/not valid JSON/, 'StartRequests'],
  [/not valid JSON/, '\xff{'],
  [/other than 1\.0/, { ...cloudEvent({ data: BODY }), specversion: '0.3' }],
  [/other than 1\.0/, { ...cloudEvent({ data: BODY }), specversion: 1 }],
  [/without data/, cloudEvent({})],
  [/both data and data_base64/, cloudEvent({ data: BODY, data_base64: '' })],
  [/not Base64/, cloudEvent({ data_base64: 'e30' })],
  [/not Base64/, cloudEvent({ data_base64: { e30: 1 } })],
  [/the data of its CloudEvent is not valid JSON/, cloudEvent({ data_base64: 'e3g=' })],
];
for (const [told, body] of BAD) {
  test(`${JSON.stringify(body)} is no approval: ${told.source}`, () => {
    const answer = parsed(body);
    assert.match('fault' in answer ? answer.fault : 'no fault', told);
  });
}

test('bytes that are not UTF-8 are no approval', () => {
  const bytes = Buffer.concat([
    Buffer.from('{"StartRequests":[{"EventId":"'),
    Buffer.from([0xff]),
    Buffer.from('"}]}'),
  ]);
  assert.ok('fault' in parseMessageBody(bytes));
});

test('64 KiB are read, one byte more is not', () => {
  const padded = (length: number) => JSON.stringify(BODY).padEnd(length, ' ');
  assert.deepEqual(parsed(padded(65_536)), { value: BODY });
  const answer = parsed(padded(65_537));
  assert.match('fault' in answer ? answer.fault : 'no fault', /64 KiB/);
});

test('a fault repeats nothing of the message', () => {
  const answer = parsed('{"secret": "abc');
  assert.doesNotMatch(JSON.stringify(answer), /secret|abc/);
});

test('the fault of a body that is not JSON names the body', () => {
  assert.deepEqual(parsed('StartRequests'), { fault: 'its body is not valid JSON in UTF-8' });
});

const OWN = 'drill-11111111-2222-3333-4444-555555555555';
const OTHER = 'drill-99999999-2222-3333-4444-555555555555';

/** Requests of each kind for these events. */
function requestsFor(...keys: readonly string[]): MessageRequests {
  const named = keys.map((key) => ({ eventId: key, key }));
  return {
    starts: named.map((name) => ({ ...name, seen: [] })),
    holds: named.map((name) => ({ ...name, reason: null })),
    releases: named.map((name) => ({ ...name, holder: null })),
  };
}

test('of the drills only those that are known are left, and of the events all', () => {
  const isKnown = (key: string) => key === OWN;
  assert.deepEqual(withoutOtherDrills(requestsFor(OTHER, 'a', OWN), isKnown), requestsFor('a', OWN));
  const none = requestsFor();
  for (const kind of ['starts', 'holds', 'releases'] as const) {
    const one = { ...none, [kind]: requestsFor('a')[kind] };
    assert.deepEqual(withoutOtherDrills(one, isKnown), one);
  }
  assert.equal(withoutOtherDrills(requestsFor(OTHER), isKnown), null);
});
