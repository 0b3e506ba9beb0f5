// Messages for unknown events → kept and tried for 60 s, over restarts too, or given back.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import { BridgeError } from '../../../../src/errors.ts';
import { EVENT_ID } from '../../../support/events.ts';
import { ApprovalsFixture, change, end, startRequests } from '../../../virtual/approvals-fixture.ts';
import { letter, ORIGIN, take, verdictOf } from '../../../virtual/inbox-fixture.ts';

const KEY = EVENT_ID.toLowerCase();
const QUEUE = { source: 'queue', approver: 'orders', canGiveBack: true };

/** Approvals beside a metadata service without events that was just read. */
function setUp(t: TestContext): { fixture: ApprovalsFixture; approvals: Approvals } {
  const fixture = new ApprovalsFixture();
  const approvals = fixture.open();
  t.after(() => fixture.close(approvals));
  fixture.poll();
  return { fixture, approvals };
}

/** Another process on the same store; it has read no document yet. */
function restart(t: TestContext, fixture: ApprovalsFixture): Approvals {
  fixture.forgetReading();
  const approvals = fixture.open();
  t.after(() => fixture.close(approvals));
  return approvals;
}

test('a message for an event that is not listed is kept and settled, and recorded with the document that lists it', async (t) => {
  const { fixture, approvals } = setUp(t);
  assert.equal(await take(fixture, approvals, letter(fixture, startRequests(KEY))), 'settle');
  await fixture.time.advance(59_000);
  assert.deepEqual([fixture.store.told, fixture.messages], [[], ['topic parked']]);
  change(fixture);
  await fixture.time.advance(0);
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.submitted orders']);
  assert.deepEqual(fixture.messages, ['topic parked', 'topic settled']);
  await fixture.time.advance(10_000);
  assert.deepEqual(
    fixture.store.told,
    ['approval.recorded orders', 'approval.submitted orders'],
    'nothing is given up any more',
  );
});

test('after 60 s the message is refused as unknown, once, with a CloudEvent that has the EventId and no event', async (t) => {
  const { fixture, approvals } = setUp(t);
  const message = letter(fixture, startRequests('Nobody', EVENT_ID));
  await take(fixture, approvals, message);
  await fixture.time.advance(59_999);
  assert.equal(fixture.store.published.length, 0);
  await fixture.time.advance(1);
  const [change, ...more] = fixture.store.published;
  assert.deepEqual(more, []);
  assert.deepEqual(
    { ...change, id: '' },
    {
      ...{ kind: 'approval', phase: 'failed', id: '', key: 'nobody', eventId: 'Nobody', occurrence: null, event: null },
      ...{
        approver: 'orders',
        policy: null,
        reason: 'unknown',
        at: { wallMs: fixture.time.wallMs(), elapsedMs: 60_000 },
      },
    },
  );
  assert.match(String(change?.id), /^nobody:approval-failed:[0-9a-f]{16}$/);
  assert.deepEqual([fixture.told, fixture.messages], [['denied'], ['topic parked', 'topic refused']]);
  assert.equal(await verdictOf(fixture, approvals.take(ORIGIN, message)), 'unknown', 'a late repeat hears the same');
  assert.equal(fixture.store.published.length, 1);
});

test('an EventId that a CloudEvent cannot contain is reported in its normalized form', async (t) => {
  const { fixture, approvals } = setUp(t);
  await take(fixture, approvals, letter(fixture, '{"StartRequests":[{"EventId":"A\\ud800"}]}'));
  await fixture.time.advance(60_000);
  assert.deepEqual(
    fixture.store.published.map(({ eventId, key }) => [eventId, key]),
    [['A\ufffd', 'a\ufffd']],
  );
});

test('a message that is redelivered while it is parked is settled and kept once', async (t) => {
  const { fixture, approvals } = setUp(t);
  const message = letter(fixture, startRequests(KEY));
  await take(fixture, approvals, message);
  assert.equal(await take(fixture, approvals, message), 'settle');
  assert.equal(await take(fixture, restart(t, fixture), message), 'settle');
  change(fixture);
  assert.equal(await fixture.postsAfter(0), 1);
  assert.deepEqual(fixture.messages, ['topic parked', 'topic repeated', 'topic repeated', 'topic settled']);
});

test('a message that also names a known event waits as a whole', async (t) => {
  const { fixture, approvals } = setUp(t);
  fixture.list('B');
  fixture.poll();
  await take(fixture, approvals, letter(fixture, startRequests('b', KEY)));
  assert.equal(approvals.summary('b'), null);
  change(fixture);
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.recorded orders']);
});

test('the 60 s count from its receipt, also over a restart', async (t) => {
  const { fixture, approvals } = setUp(t);
  await take(fixture, approvals, letter(fixture, startRequests(KEY)));
  await fixture.time.advance(40_000);
  restart(t, fixture);
  fixture.poll();
  await fixture.time.advance(19_999);
  assert.deepEqual(fixture.store.told, []);
  await fixture.time.advance(1);
  assert.deepEqual(fixture.store.told, ['approval.failed unknown orders']);
});

test('it is not given up before this process has handled its first good document, which may list the event', async (t) => {
  const { fixture, approvals } = setUp(t);
  await take(fixture, approvals, letter(fixture, startRequests(KEY)));
  await take(fixture, approvals, letter(fixture, startRequests('Nobody')));
  await fixture.time.advance(1000);
  restart(t, fixture);
  await fixture.time.advance(3_600_000);
  assert.deepEqual(fixture.store.told, []);
  change(fixture);
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.failed unknown orders']);
});

test('a clock that was set back between two processes makes it wait no longer than 60 s', async (t) => {
  const { fixture, approvals } = setUp(t);
  await take(fixture, approvals, letter(fixture, startRequests(KEY)));
  fixture.time.jumpWall(-3_600_000);
  restart(t, fixture);
  fixture.poll();
  await fixture.time.advance(60_000);
  assert.deepEqual(fixture.store.told, ['approval.failed unknown orders']);
});

test('before the first good document everything is kept, also what is known from an earlier process', async (t) => {
  const { fixture } = setUp(t);
  change(fixture);
  const restarted = restart(t, fixture);
  assert.equal(await take(fixture, restarted, letter(fixture, startRequests(KEY))), 'settle');
  assert.deepEqual(fixture.messages, ['topic parked']);
  change(fixture, { eventStatus: 'Started' });
  assert.deepEqual(fixture.store.told, ['approval.failed started orders']);
});

test('a message older than the end of its event is refused at once, a newer one may be for its next occurrence', async (t) => {
  const { fixture, approvals } = setUp(t);
  change(fixture);
  const old = letter(fixture, startRequests(KEY));
  await fixture.time.advance(1000);
  end(fixture);
  assert.equal(await take(fixture, approvals, old), 'ended');
  assert.equal(await take(fixture, approvals, letter(fixture, startRequests(KEY))), 'settle');
  assert.deepEqual(fixture.store.told, ['approval.failed ended orders']);
  await fixture.time.advance(1000);
  change(fixture, {});
  assert.equal(fixture.store.told.at(-1), 'approval.recorded orders');
});

test('if the event does not come back, the newer message is refused as ended', async (t) => {
  const { fixture, approvals } = setUp(t);
  change(fixture);
  end(fixture);
  await take(fixture, approvals, letter(fixture, startRequests(KEY)));
  await fixture.time.advance(60_000);
  assert.deepEqual(fixture.store.told, ['approval.failed ended orders']);
});

test('an event that came and ended while the store failed is not approved when it comes back', async (t) => {
  const { fixture, approvals } = setUp(t);
  await take(fixture, approvals, letter(fixture, startRequests(KEY)));
  await fixture.time.advance(1000);
  fixture.list(EVENT_ID);
  fixture.store.messageFault = () => new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  fixture.poll();
  fixture.store.messageFault = null;
  end(fixture);
  change(fixture, {});
  assert.deepEqual(fixture.store.told, ['approval.failed ended orders']);
});

test('a message that cannot be stored when its event comes is recorded with a later document', async (t) => {
  const { fixture, approvals } = setUp(t);
  await take(fixture, approvals, letter(fixture, startRequests(KEY)));
  fixture.list(EVENT_ID);
  fixture.store.messageFault = () => new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  fixture.poll();
  assert.deepEqual(fixture.store.told, []);
  fixture.store.messageFault = null;
  fixture.poll();
  assert.deepEqual(fixture.store.told, ['approval.recorded orders']);
});

test('while nothing can be stored, each document retries once and logs nothing: the store reports the fault', async (t) => {
  const { fixture, approvals } = setUp(t);
  for (let sent = 0; sent < 3; sent++) await take(fixture, approvals, letter(fixture, startRequests(KEY)));
  const lines = fixture.log.length;
  fixture.list(EVENT_ID);
  let tries = 0;
  fixture.store.messageFault = () => {
    tries += 1;
    return new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  };
  for (let polls = 0; polls < 5; polls++) fixture.poll();
  assert.deepEqual([tries, fixture.log.slice(lines)], [5, []]);
});

test('each parked message is checked again when its own time is over, not all of them each time', async (t) => {
  const { fixture, approvals } = setUp(t);
  for (let sent = 0; sent < 50; sent++) {
    await take(fixture, approvals, letter(fixture, startRequests(`event ${sent}`)));
    await fixture.time.advance(10);
  }
  let looks = 0;
  const { lastEndedMs } = fixture.store.known;
  fixture.store.known.lastEndedMs = (key) => {
    looks += 1;
    return lastEndedMs(key);
  };
  await fixture.time.advance(60_000);
  assert.equal(fixture.store.published.length, 50);
  assert.ok(looks < 200, `${looks} looks`);
});

test('messages of two sources with the same id wait separately', async (t) => {
  const { fixture, approvals } = setUp(t);
  const message = letter(fixture, startRequests(KEY));
  await take(fixture, approvals, message);
  await take(fixture, approvals, message, { ...ORIGIN, source: 'other', approver: 'billing' });
  change(fixture);
  assert.deepEqual(fixture.store.told, ['approval.recorded orders', 'approval.recorded billing']);
  assert.deepEqual(fixture.store.messages.parked(), []);
});

test('an error in one message does not delay the others', async (t) => {
  const { fixture, approvals } = setUp(t);
  await take(fixture, approvals, letter(fixture, startRequests('B')));
  await take(fixture, approvals, letter(fixture, startRequests('C')));
  for (const id of ['B', 'C']) fixture.list(id);
  const [first] = fixture.store.messages.parked();
  fixture.store.messageFault = ({ id }) => (id === first?.id ? new Error('a mistake') : null);
  fixture.poll();
  assert.deepEqual(
    fixture.store.published.map(({ eventId }) => eventId),
    ['C'],
  );
});

test('a message of a queue that names an unknown event is given back after a pause of 1 to 5 s', async (t) => {
  const { fixture, approvals } = setUp(t);
  const pauses: number[] = [];
  for (let round = 0; round < 50; round++) {
    const fromMs = fixture.time.elapsedMs();
    const taken = approvals.take(QUEUE, letter(fixture, startRequests(KEY))).then((verdict) => {
      pauses.push(fixture.time.elapsedMs() - fromMs);
      return verdict;
    });
    assert.equal(await verdictOf(fixture, taken, 5000), 'giveBack');
  }
  assert.ok(Math.min(...pauses) >= 1000 && Math.max(...pauses) <= 5000, pauses.join(' '));
  assert.ok(Math.max(...pauses) - Math.min(...pauses) > 2000, 'they are drawn');
  assert.deepEqual(new Set(fixture.messages), new Set(['queue given_back']));
  assert.deepEqual([fixture.store.published.length, fixture.store.messages.parked().length], [0, 0]);
});

test('an event that is listed within that pause is approved', async (t) => {
  const { fixture, approvals } = setUp(t);
  const taken = approvals.take(QUEUE, letter(fixture, startRequests(KEY)));
  await fixture.time.advance(500);
  change(fixture);
  assert.equal(await verdictOf(fixture, taken, 5000), 'settle');
  assert.equal(fixture.posts.length, 1);
});

test('a message of a queue that is refused for good is not given back', async (t) => {
  const { fixture, approvals } = setUp(t);
  change(fixture, { eventStatus: 'Started' });
  assert.equal(await verdictOf(fixture, approvals.take(QUEUE, letter(fixture, startRequests(KEY)))), 'started');
});

test('a message that waits to be given back is not settled if the bridge stops, and no timer stays', async (t) => {
  const { fixture, approvals } = setUp(t);
  await take(fixture, approvals, letter(fixture, startRequests('Nobody')));
  const taken = approvals.take(QUEUE, letter(fixture, startRequests(KEY)));
  await approvals[Symbol.asyncDispose]();
  assert.equal(await verdictOf(fixture, taken), 'error BRIDGE_APPROVALS_CLOSED');
  assert.equal(fixture.time.pending, 0);
});

test('the approver counts under whose name it came, though the configuration has changed since', async (t) => {
  const { fixture, approvals } = setUp(t);
  await take(fixture, approvals, letter(fixture, startRequests(KEY)));
  fixture.forgetReading();
  const restarted = fixture.open({ approvers: { billing: {} } });
  t.after(() => fixture.close(restarted));
  change(fixture);
  assert.deepEqual(fixture.store.told, ['approval.failed scope orders']);
});
