// Bodies of StartRequests → ids and every Seen, or a refusal that names the entry and the key.
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseStartRequests } from '../../../../src/approvals/requests/start-requests.ts';
import { EVENT_ID } from '../../../support/events.ts';
import { approvalsOverOneEvent, caller } from '../../../virtual/approvals-fixture.ts';
import { letter, take } from '../../../virtual/inbox-fixture.ts';

const LONG = 'x'.repeat(60_000);
const REQUESTER = caller('orders');

test('ids count once without case, in the order in which they were first named, and every Seen is kept', () => {
  const parsed = parseStartRequests({
    DocumentIncarnation: 3,
    StartRequests: [
      { EventId: 'B', Seen: 'b:scheduled' },
      { EventId: 'a', Extra: 1 },
      { EventId: 'b', Seen: 'b:updated:0' },
    ],
  });
  assert.deepEqual(parsed, [
    { eventId: 'B', key: 'b', seen: ['b:scheduled', 'b:updated:0'] },
    { eventId: 'a', key: 'a', seen: [] },
  ]);
});

const BAD: readonly [body: unknown, told: RegExp][] = [
  [null, /must be an object/],
  [[], /must be an object/],
  ['text', /must be an object/],
  [{}, /must be an array/],
  [{ startrequests: [{ EventId: 'a' }] }, /the body has a key that is nearly StartRequests: write StartRequests/],
  [{ StartRequests: [{ EventId: 'a' }], holds: [] }, /nearly Holds/],
  [{ StartRequests: [{ EventId: 'a' }], RELEASE: [] }, /nearly Releases/],
  [{ StartRequests: [{ EventId: 'a' }], Seen: 'a:scheduled' }, /Seen must be in an entry of StartRequests/],
  [{ StartRequests: [{ EventId: 'a' }], seen: 'a:scheduled' }, /Seen must be in an entry of StartRequests/],
  [
    { StartRequests: [{ EventId: 'a', seen: 'a:scheduled' }] },
    /StartRequests\[0\] has a key that is nearly Seen: write Seen/,
  ],
  [
    { StartRequests: [{ EventId: 'a' }, { EventId: 'b', Seen: 'b:scheduled', SEEN: 'x' }] },
    /StartRequests\[1\] .*nearly Seen/,
  ],
  [{ StartRequests: [{ EventID: 'a' }] }, /StartRequests\[0\] has a key that is nearly EventId/],
  [{ StartRequests: [{ EventId: 'x'.repeat(257) }] }, /StartRequests\[0\]\.EventId is longer than 256 characters/],
  [{ StartRequests: { EventId: 'a' } }, /must be an array/],
  [{ StartRequests: [] }, /is empty/],
  [{ StartRequests: [{ EventId: 'a' }, 'b'] }, /StartRequests\[1\] must be an object/],
  [{ StartRequests: [null] }, /StartRequests\[0\] must be an object/],
  [{ StartRequests: [{}] }, /StartRequests\[0\]\.EventId/],
  [{ StartRequests: [{ EventId: '' }] }, /StartRequests\[0\]\.EventId/],
  [{ StartRequests: [{ EventId: 7 }] }, /StartRequests\[0\]\.EventId/],
  [{ StartRequests: [{ EventId: 'a', Seen: 7 }] }, /StartRequests\[0\]\.Seen/],
];

for (const [body, told] of BAD) {
  test(`${JSON.stringify(body).slice(0, 120)} is refused with the place of the fault`, () => {
    const fault = parseStartRequests(body);
    assert.ok(typeof fault === 'string');
    assert.match(fault, told);
  });
}

test('an EventId has at most 256 characters, whatever they take in UTF-16, and a Seen that is said twice counts once', () => {
  const StartRequests = [
    { EventId: '😀'.repeat(256), Seen: 'a' },
    { EventId: '😀'.repeat(256), Seen: 'a' },
  ];
  const parsed = parseStartRequests({ StartRequests });
  assert.deepEqual(typeof parsed === 'string' ? parsed : parsed.map(({ seen }) => seen), [['a']]);
  assert.match(String(parseStartRequests({ StartRequests: [{ EventId: '😀'.repeat(257) }] })), /longer than 256/);
});

test('a key named __proto__ names nothing', () => {
  const parsed = parseStartRequests(JSON.parse('{"StartRequests":[{"__proto__":{"EventId":"a"}}]}'));
  assert.match(String(parsed), /EventId must be a non-empty text/);
});

test('an overlong id is 400 for a vote, a hold, a release and the record, and stays out of answer and log', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const answers = [
    await approvals.request(REQUESTER, { StartRequests: [{ EventId: EVENT_ID }, { EventId: LONG }] }),
    approvals.hold(REQUESTER, { EventId: LONG }),
    approvals.release(REQUESTER, LONG, null),
    approvals.release(REQUESTER, EVENT_ID, LONG),
    approvals.life(LONG),
  ];
  for (const answer of answers) {
    assert.ok('status' in answer && 'type' in answer);
    assert.deepEqual([answer.status, answer.type], [400, 'bad-request']);
    assert.match(answer.detail, /longer than 256 characters/);
    assert.ok(JSON.stringify(answer).length < 400);
  }
  assert.ok(fixture.log.every((line) => line.length < 1000));
  assert.deepEqual(fixture.store.told, [], 'and nothing else of that body was recorded');
});

test('a message with an overlong id or a misspelled key is no approval: it is answered if it names an event that is known', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const bodies = [
    { StartRequests: [{ EventId: LONG }] },
    { Holds: [{ EventId: LONG }] },
    { Releases: [{ EventId: LONG }] },
    { Releases: [{ EventId: EVENT_ID, approver: LONG }] },
    { StartRequests: [{ EventId: EVENT_ID }], holds: [{ EventId: EVENT_ID }] },
    { startRequests: [{ EventId: EVENT_ID }], Holds: [{ EventId: EVENT_ID }] },
    { Holds: [{ EventId: EVENT_ID, Reason: 'a backup' }] },
    { Releases: [{ EventId: EVENT_ID, Approver: 'billing' }] },
  ];
  for (const body of bodies)
    assert.equal(
      await take(fixture, approvals, letter(fixture, body)),
      'bad-request',
      JSON.stringify(body).slice(0, 80),
    );
  assert.deepEqual(fixture.store.told, Array(5).fill('approval.failed bad-request orders'));
  assert.ok(fixture.log.every((line) => line.length < 1000));
});

test('an EventId of 256 characters is looked up like any other', async (t) => {
  const { approvals } = approvalsOverOneEvent(t);
  const answer = await approvals.request(REQUESTER, { StartRequests: [{ EventId: 'x'.repeat(256) }] });
  assert.deepEqual([answer.status, 'type' in answer && answer.type], [404, 'unknown']);
});
