// More messages for unknown events than may wait → reading pauses until there is room; none lost.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { MessageVerdict } from '../../../../adapters/approval-source.ts';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import { ApprovalsFixture, startRequests } from '../../../virtual/approvals-fixture.ts';
import { letter, ORIGIN, take, verdictOf } from '../../../virtual/inbox-fixture.ts';

const ROOM = 1000;
const OTHER = { ...ORIGIN, source: 'queue', approver: 'billing' };

/** Approvals beside a metadata service without events that was just read, with so many messages that wait. */
async function full(t: TestContext, messages = ROOM): Promise<{ fixture: ApprovalsFixture; approvals: Approvals }> {
  const fixture = new ApprovalsFixture();
  const approvals = fixture.open();
  t.after(() => fixture.close(approvals));
  fixture.poll();
  for (let place = 0; place < messages; place++)
    await approvals.take(ORIGIN, letter(fixture, startRequests(`parked-${place}`)));
  return { fixture, approvals };
}

/** Whether it has a verdict by now. */
function watched(taken: Promise<MessageVerdict>): { readonly taken: Promise<MessageVerdict>; isTold: boolean } {
  const watch = { taken, isTold: false };
  taken.then(
    () => Object.assign(watch, { isTold: true }),
    () => Object.assign(watch, { isTold: true }),
  );
  return watch;
}

test('a thousand messages of a source wait; the next one is taken when one of them is dealt with, a minute later at the latest', async (t) => {
  const { fixture, approvals } = await full(t);
  const next = watched(approvals.take(ORIGIN, letter(fixture, startRequests('one-more'))));
  await fixture.time.advance(59_999);
  assert.deepEqual([next.isTold, fixture.store.messages.parked().length], [false, ROOM]);
  await fixture.time.advance(1);
  assert.equal(await verdictOf(fixture, next.taken), 'settle');
  await fixture.time.advance(1);
  assert.equal(fixture.store.messages.parked().length, 0, 'its own minute counts from its receipt, too');
  assert.equal(
    fixture.store.told.filter((line) => line === 'approval.failed unknown orders').length,
    ROOM + 1,
    'each of them is told of',
  );
});

test('a message that waits for room is recorded at once if its event is listed', async (t) => {
  const { fixture, approvals } = await full(t);
  const next = approvals.take(ORIGIN, letter(fixture, startRequests('one-more')));
  await fixture.time.advance(1000);
  fixture.list('one-more');
  fixture.poll();
  assert.equal(await verdictOf(fixture, next), 'settle');
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.submitted orders']);
  assert.equal(fixture.store.messages.parked().length, ROOM);
});

test('the parked messages of one source take no room from another, and messages for listed events are accepted', async (t) => {
  const { fixture, approvals } = await full(t);
  assert.equal(await take(fixture, approvals, letter(fixture, startRequests('unknown')), OTHER), 'settle');
  fixture.list('listed');
  fixture.poll();
  assert.equal(await take(fixture, approvals, letter(fixture, startRequests('listed'))), 'settle');
});

test('large messages take more room: 4 MiB of one source wait', async (t) => {
  const { fixture, approvals } = await full(t, 0);
  const large = (place: number) => ({ StartRequests: [{ EventId: `large-${place}`, padding: 'x'.repeat(60 * 1024) }] });
  for (let place = 0; place < 67; place++)
    assert.equal(await take(fixture, approvals, letter(fixture, large(place))), 'settle');
  const next = [70, 71].map((place) => watched(approvals.take(ORIGIN, letter(fixture, large(place)))));
  await fixture.time.advance(30_000);
  assert.deepEqual(
    next.map(({ isTold }) => isTold),
    [true, false],
  );
  assert.equal(fixture.log.filter((line) => line.includes('until there is room')).length, 1);
  await fixture.time.advance(30_000);
  assert.equal(next[1]?.isTold, true);
});

test('if the bridge stops, a message that waits for room is redelivered', async (t) => {
  const { fixture, approvals } = await full(t);
  const next = approvals.take(ORIGIN, letter(fixture, startRequests('one-more')));
  next.catch(() => {});
  await fixture.close(approvals);
  assert.equal(await verdictOf(fixture, next), 'error BRIDGE_APPROVALS_CLOSED');
  assert.equal(fixture.store.messages.parked().length, ROOM);
});

test('the bridge logs at most once a minute that a source has too many parked messages', async (t) => {
  const { fixture, approvals } = await full(t);
  const waiting = Array.from({ length: 8 }, (_, place) =>
    approvals.take(ORIGIN, letter(fixture, startRequests(`more-${place}`))),
  );
  await fixture.time.advance(1000);
  const told = fixture.log.filter((line) => line.includes('until there is room'));
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /"source":"topic"/);
  await fixture.time.advance(60_000);
  assert.deepEqual(await Promise.all(waiting), Array(8).fill('settle'));
});

test('in the minute after such a line there is none, at its end there may be another', async (t) => {
  const { fixture, approvals } = await full(t, 0);
  await fixture.time.advance(5000);
  for (let place = 0; place < ROOM; place++)
    await approvals.take(ORIGIN, letter(fixture, startRequests(`parked-${place}`)));
  const more = async (place: number) => {
    approvals.take(ORIGIN, letter(fixture, startRequests(`more-${place}`))).catch(() => {});
    await fixture.time.advance(0);
    return fixture.log.filter((line) => line.includes('until there is room')).length;
  };
  assert.equal(await more(1), 1);
  await fixture.time.advance(59_999);
  assert.equal(await more(2), 1);
  await fixture.time.advance(1);
  for (let place = 0; place < ROOM; place++)
    approvals.take(ORIGIN, letter(fixture, startRequests(`again-${place}`))).catch(() => {});
  assert.equal(await more(3), 2);
});
