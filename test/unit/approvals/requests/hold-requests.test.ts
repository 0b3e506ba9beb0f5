// parseHold, parseRelease, parseEntries, and messages made of them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseHold, parseRelease } from '../../../../src/approvals/requests/hold-requests.ts';
import { readMessageRequests } from '../../../../src/approvals/requests/message-requests.ts';

test('a hold has an EventId and perhaps a reason, null standing for none', () => {
  assert.deepEqual(parseHold({ EventId: 'Abc', reason: 'month end', more: 1 }), {
    eventId: 'Abc',
    key: 'abc',
    reason: 'month end',
  });
  assert.deepEqual(parseHold({ EventId: 'a' }), { eventId: 'a', key: 'a', reason: null });
  assert.deepEqual(parseHold({ EventId: 'a', reason: null }), { eventId: 'a', key: 'a', reason: null });
  assert.deepEqual(parseHold({ EventId: 'a', reason: '' }), { eventId: 'a', key: 'a', reason: '' });
});

test('lone surrogates become U+FFFD, in the EventId and in the reason', () => {
  assert.deepEqual(parseHold({ EventId: 'A\ud800', reason: 'b\udc00' }), {
    eventId: 'A\ud800',
    key: 'a\ufffd',
    reason: 'b\ufffd',
  });
});

test('a reason has at most 1000 characters', () => {
  assert.equal(typeof parseHold({ EventId: 'a', reason: 'x'.repeat(1000) }), 'object');
  assert.match(String(parseHold({ EventId: 'a', reason: 'x'.repeat(1001) })), /longer than 1000/);
});

test('a release has an EventId and perhaps whose hold it is', () => {
  assert.deepEqual(parseRelease({ EventId: 'Abc' }), { eventId: 'Abc', key: 'abc', holder: null });
  assert.deepEqual(parseRelease({ EventId: 'Abc', approver: 'orders' }), {
    eventId: 'Abc',
    key: 'abc',
    holder: 'orders',
  });
});

function parsed(body: unknown) {
  return readMessageRequests(Buffer.from(JSON.stringify(body)));
}

const BAD: readonly [body: unknown, told: RegExp][] = [
  [{}, /^StartRequests must be an array/],
  [[], /must be an object/],
  [null, /must be an object/],
  [{ Holds: [] }, /^Holds must be a non-empty array of .*$/],
  [{ Holds: { EventId: 'a' } }, /^Holds must be a non-empty array/],
  [{ Holds: [{ EventId: 'a' }, 'b'] }, /^Holds\[1\] must be an object/],
  [{ Holds: [{ EventId: '' }] }, /^Holds\[0\]\.EventId/],
  [{ Holds: [{ EventId: 'a', reason: 7 }] }, /^Holds\[0\]\.reason must be a text/],
  [{ Releases: 'a' }, /^Releases must be a non-empty array/],
  [{ Releases: [{ eventId: 'a' }] }, /^Releases\[0\] has a key that is nearly EventId: write EventId$/],
  [{ Releases: [{ EventId: 'a', APPROVER: 'b' }] }, /^Releases\[0\] .*nearly approver/],
  [
    { Releases: [{ EventId: 'a', approver: 'x'.repeat(257) }] },
    /^Releases\[0\]\.approver is longer than 256 characters$/,
  ],
  [{ Holds: [{ EventId: 'a', Reason: 'b' }] }, /^Holds\[0\] .*nearly reason/],
  [{ hold: [{ EventId: 'a' }], StartRequests: [{ EventId: 'a' }] }, /^the body .*nearly Holds/],
  [{ Releases: [{ EventId: 'a', approver: '' }] }, /^Releases\[0\]\.approver/],
  [{ Releases: [{ EventId: 'a', approver: 7 }] }, /^Releases\[0\]\.approver must be a text: the name of an approver$/],
  [{ StartRequests: [], Holds: [{ EventId: 'a' }] }, /^StartRequests is empty/],
];
for (const [body, told] of BAD) {
  test(`a message is refused, with the place: ${JSON.stringify(body).slice(0, 120)}`, () => {
    assert.match(String(parsed(body)), told);
  });
}

test('a message may have any of the three lists; of several entries for one event, without case, the last counts', () => {
  assert.deepEqual(
    parsed({
      StartRequests: [{ EventId: 'c' }],
      Holds: [{ EventId: 'A', reason: 'first' }, { EventId: 'b' }, { EventId: 'a', reason: 'last' }],
      Releases: [{ EventId: 'd', approver: 'orders' }],
    }),
    {
      starts: [{ eventId: 'c', key: 'c', seen: [] }],
      holds: [
        { eventId: 'a', key: 'a', reason: 'last' },
        { eventId: 'b', key: 'b', reason: null },
      ],
      releases: [{ eventId: 'd', key: 'd', holder: 'orders' }],
    },
  );
  assert.deepEqual(parsed({ Releases: [{ EventId: 'd' }] }), {
    ...{ starts: [], holds: [] },
    releases: [{ eventId: 'd', key: 'd', holder: null }],
  });
});

test('a message may release the holds of several approvers of one event', () => {
  const Releases = ['orders', 'billing', 'orders'].map((approver) => ({ EventId: 'd', approver }));
  const found = parsed({ Releases });
  assert.deepEqual(typeof found === 'object' && found.releases.map(({ key, holder }) => [key, holder]), [
    ['d', 'orders'],
    ['d', 'billing'],
  ]);
});
