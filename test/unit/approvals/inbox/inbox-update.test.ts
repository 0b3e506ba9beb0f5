// Messages about an update that was not read yet → kept until it is read, or refused.
import assert from 'node:assert/strict';
import test from 'node:test';
import { EVENT_ID } from '../../../support/events.ts';
import { type ApprovalsFixture, approvalsOverOneEvent, caller } from '../../../virtual/approvals-fixture.ts';
import { letter, take, verdictOf } from '../../../virtual/inbox-fixture.ts';

const KEY = EVENT_ID.toLowerCase();
const QUEUE = { source: 'queue', approver: 'orders', canGiveBack: true };
const UPDATE = `${KEY}:updated:0123456789abcdef`;
const answering = (...seen: readonly string[]) => ({
  StartRequests: seen.map((Seen) => ({ EventId: EVENT_ID, Seen })),
});

/** The next document brings the update that has this id. */
function update(fixture: ApprovalsFixture, id = UPDATE): void {
  fixture.list(EVENT_ID, { durationInSeconds: 9 });
  const event = fixture.service.get(KEY);
  assert.ok(event);
  fixture.store.seenEvents.set(id, { change: 'updated', key: KEY, occurrence: 1, event });
  fixture.poll();
}

test('a message that answers an update which this bridge has not read yet waits for it', async (t) => {
  for (const id of [UPDATE, `${UPDATE}:r2`]) {
    const { fixture, approvals } = approvalsOverOneEvent(t);
    assert.equal(await take(fixture, approvals, letter(fixture, answering(id))), 'settle');
    await fixture.time.advance(59_000);
    fixture.poll();
    assert.deepEqual([fixture.store.told, fixture.messages], [[], ['topic parked']]);
    update(fixture, id);
    assert.deepEqual(
      [fixture.store.told, fixture.messages],
      [['approval.recorded orders'], ['topic parked', 'topic settled']],
    );
  }
});

test('if that update does not come within 60 s, the message is refused as seen-unknown, once', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  await take(fixture, approvals, letter(fixture, answering(UPDATE)));
  await fixture.time.advance(59_999);
  assert.deepEqual(fixture.store.told, []);
  await fixture.time.advance(1);
  assert.deepEqual(
    [fixture.store.told, fixture.store.messages.parked()],
    [['approval.failed seen-unknown orders'], []],
  );
});

test('a message whose Seen cannot be an update of this event is refused at once', async (t) => {
  const { fixture, approvals } = approvalsOverOneEvent(t);
  const foreign = UPDATE.replace(KEY, 'other');
  fixture.store.seenEvents.set(`${UPDATE}:r3`, {
    change: 'started',
    key: KEY,
    occurrence: 1,
    event: fixture.known(KEY)?.event ?? assert.fail(),
  });
  for (const id of [
    'nothing',
    `${KEY}:scheduled:r2`,
    `${KEY}:updated:0123`,
    UPDATE.toUpperCase(),
    `${UPDATE}:r`,
    foreign,
    `${UPDATE}:r3`,
  ])
    assert.equal(await take(fixture, approvals, letter(fixture, answering(id))), 'seen-unknown', id);
});

test('a request for such an update is refused at once, because the caller can retry', async (t) => {
  const { approvals } = approvalsOverOneEvent(t);
  const answer = await approvals.request(caller('orders'), answering(UPDATE));
  assert.deepEqual('type' in answer && [answer.status, answer.type], [404, 'seen-unknown']);
});

test('a message of a queue waits for such an update as long as for an event, and is then refused, since the event is known here', async (t) => {
  for (const comes of [true, false]) {
    const { fixture, approvals } = approvalsOverOneEvent(t);
    const taken = approvals.take(QUEUE, letter(fixture, answering(UPDATE)));
    await fixture.time.advance(999);
    assert.deepEqual(fixture.messages, []);
    if (comes) update(fixture);
    assert.equal(await verdictOf(fixture, taken, 5000), comes ? 'settle' : 'seen-unknown');
  }
});
