// Overlong EventIds and names through every door → 400, and nothing of them in log or CloudEvent.
import assert from 'node:assert/strict';
import test from 'node:test';
import { EVENT_ID } from '../../../support/events.ts';
import { approvalsOverOneEvent, caller } from '../../../virtual/approvals-fixture.ts';
import { letter, take } from '../../../virtual/inbox-fixture.ts';

const LONG = 'x'.repeat(60_000);
const REQUESTER = caller('orders');

test('by HTTP it is 400 for a yes, a hold, a release and the record; what is answered and logged stays short', async (t) => {
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

test('a message is no approval then: it is passed over, and no CloudEvent tells of it', async (t) => {
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
    assert.equal(await take(fixture, approvals, letter(fixture, body)), 'bad-request', JSON.stringify(body).slice(0, 80));
  assert.deepEqual(fixture.store.told, []);
  assert.ok(fixture.log.every((line) => line.length < 1000));
});

test('256 characters are asked for as any other EventId', async (t) => {
  const { approvals } = approvalsOverOneEvent(t);
  const answer = await approvals.request(REQUESTER, { StartRequests: [{ EventId: 'x'.repeat(256) }] });
  assert.deepEqual([answer.status, 'type' in answer && answer.type], [404, 'unknown']);
});
