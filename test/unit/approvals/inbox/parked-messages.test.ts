// Messages for events that nobody has seen yet → kept and tried for 60 s, over restarts too, or given back to the other readers.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Approvals } from '../../../../src/approvals/approvals.ts';
import { BridgeError } from '../../../../src/errors.ts';
import { EVENT_ID } from '../../../support/events.ts';
import { ApprovalBench, startRequests } from '../../../virtual/approvals-fixture.ts';
import { letter, ORIGIN, take, verdictOf } from '../../../virtual/inbox-fixture.ts';

const KEY = EVENT_ID.toLowerCase();
const QUEUE = { source: 'queue', approver: 'orders', canGiveBack: true };

/** Approvals in a world without events that was just read. */
function setUp(t: TestContext): { bench: ApprovalBench; approvals: Approvals } {
  const bench = new ApprovalBench();
  const approvals = bench.open();
  t.after(() => bench.close(approvals));
  bench.poll();
  return { bench, approvals };
}

/** Another process on the same store; it has read no document yet. */
function restart(t: TestContext, bench: ApprovalBench): Approvals {
  bench.forgetReading();
  const approvals = bench.open();
  t.after(() => bench.close(approvals));
  return approvals;
}

test('a message for an event that is not listed is kept and settled, and recorded with the document that lists it', async (t) => {
  const { bench, approvals } = setUp(t);
  assert.equal(await take(bench, approvals, letter(bench, startRequests(KEY))), 'settle');
  await bench.time.advance(59_000);
  assert.deepEqual([bench.store.told, bench.messages], [[], ['topic parked']]);
  bench.list(EVENT_ID);
  bench.poll();
  await bench.time.advance(0);
  assert.deepEqual(bench.store.told, ['approval.recorded orders', 'approval.submitted orders']);
  assert.deepEqual(bench.messages, ['topic parked', 'topic settled']);
  await bench.time.advance(10_000);
  assert.deepEqual(bench.store.told, ['approval.recorded orders', 'approval.submitted orders'], 'nothing is given up any more');
});

test('after 60 s it is refused as unknown, once, by a CloudEvent that names the EventId and no event', async (t) => {
  const { bench, approvals } = setUp(t);
  const message = letter(bench, startRequests('Nobody', EVENT_ID));
  await take(bench, approvals, message);
  await bench.time.advance(59_999);
  assert.equal(bench.store.published.length, 0);
  await bench.time.advance(1);
  const [change, ...more] = bench.store.published;
  assert.deepEqual(more, []);
  assert.deepEqual(
    { ...change, id: '' },
    {
      ...{ kind: 'approval', phase: 'failed', id: '', key: 'nobody', eventId: 'Nobody', occurrence: null, event: null },
      ...{ approver: 'orders', policy: null, reason: 'unknown', at: { wallMs: bench.time.wallMs(), elapsedMs: 60_000 } },
    },
  );
  assert.match(String(change?.id), /^nobody:approval-failed:[0-9a-f]{16}$/);
  assert.deepEqual([bench.told, bench.messages], [['denied'], ['topic parked', 'topic refused']]);
  assert.equal(await verdictOf(bench, approvals.take(ORIGIN, message)), 'unknown', 'a late repeat hears the same');
  assert.equal(bench.store.published.length, 1);
});

test('an EventId that no CloudEvent can hold is told as it would be known', async (t) => {
  const { bench, approvals } = setUp(t);
  await take(bench, approvals, letter(bench, '{"StartRequests":[{"EventId":"A\\ud800"}]}'));
  await bench.time.advance(60_000);
  assert.deepEqual(
    bench.store.published.map(({ eventId, key }) => [eventId, key]),
    [['A\ufffd', 'a\ufffd']],
  );
});

test('a message that comes again while it is kept is settled and kept once', async (t) => {
  const { bench, approvals } = setUp(t);
  const message = letter(bench, startRequests(KEY));
  await take(bench, approvals, message);
  assert.equal(await take(bench, approvals, message), 'settle');
  assert.equal(await take(bench, restart(t, bench), message), 'settle');
  bench.list(EVENT_ID);
  bench.poll();
  await bench.time.advance(0);
  assert.equal(bench.posts.length, 1);
  assert.deepEqual(bench.messages, ['topic parked', 'topic repeated', 'topic repeated', 'topic settled']);
});

test('a message that names a known event too waits as a whole', async (t) => {
  const { bench, approvals } = setUp(t);
  bench.list('B');
  bench.poll();
  await take(bench, approvals, letter(bench, startRequests('b', KEY)));
  assert.equal(approvals.summary('b'), null);
  bench.list(EVENT_ID);
  bench.poll();
  assert.deepEqual(bench.store.told, ['approval.recorded orders', 'approval.recorded orders']);
});

test('the 60 s count from its receipt, also over a restart', async (t) => {
  const { bench, approvals } = setUp(t);
  await take(bench, approvals, letter(bench, startRequests(KEY)));
  await bench.time.advance(40_000);
  restart(t, bench);
  bench.poll();
  await bench.time.advance(19_999);
  assert.deepEqual(bench.store.told, []);
  await bench.time.advance(1);
  assert.deepEqual(bench.store.told, ['approval.failed unknown orders']);
});

test('it is not given up before this process has handled its first good document, which may list the event', async (t) => {
  const { bench, approvals } = setUp(t);
  await take(bench, approvals, letter(bench, startRequests(KEY)));
  await take(bench, approvals, letter(bench, startRequests('Nobody')));
  await bench.time.advance(1000);
  restart(t, bench);
  await bench.time.advance(3_600_000);
  assert.deepEqual(bench.store.told, []);
  bench.list(EVENT_ID);
  bench.poll();
  assert.deepEqual(bench.store.told, ['approval.recorded orders', 'approval.failed unknown orders']);
});

test('a clock that was set back between two processes makes it wait no longer than 60 s', async (t) => {
  const { bench, approvals } = setUp(t);
  await take(bench, approvals, letter(bench, startRequests(KEY)));
  bench.time.jumpWall(-3_600_000);
  restart(t, bench);
  bench.poll();
  await bench.time.advance(60_000);
  assert.deepEqual(bench.store.told, ['approval.failed unknown orders']);
});

test('before the first good document everything is kept, also what is known from an earlier process', async (t) => {
  const { bench } = setUp(t);
  bench.list(EVENT_ID);
  bench.poll();
  const restarted = restart(t, bench);
  assert.equal(await take(bench, restarted, letter(bench, startRequests(KEY))), 'settle');
  assert.deepEqual(bench.messages, ['topic parked']);
  bench.list(EVENT_ID, { eventStatus: 'Started' });
  bench.poll();
  assert.deepEqual(bench.store.told, ['approval.failed started orders']);
});

test('a message older than the end of its event is refused at once, a newer one may be for its next occurrence', async (t) => {
  const { bench, approvals } = setUp(t);
  bench.list(EVENT_ID);
  bench.poll();
  const old = letter(bench, startRequests(KEY));
  await bench.time.advance(1000);
  bench.end(EVENT_ID);
  bench.poll();
  assert.equal(await take(bench, approvals, old), 'ended');
  assert.equal(await take(bench, approvals, letter(bench, startRequests(KEY))), 'settle');
  assert.deepEqual(bench.store.told, ['approval.failed ended orders']);
  await bench.time.advance(1000);
  bench.list(EVENT_ID, {});
  bench.poll();
  assert.equal(bench.store.told.at(-1), 'approval.recorded orders');
});

test('where the event does not come back the newer one is refused as ended', async (t) => {
  const { bench, approvals } = setUp(t);
  bench.list(EVENT_ID);
  bench.poll();
  bench.end(EVENT_ID);
  bench.poll();
  await take(bench, approvals, letter(bench, startRequests(KEY)));
  await bench.time.advance(60_000);
  assert.deepEqual(bench.store.told, ['approval.failed ended orders']);
});

test('what came and ended while the store failed is not approved when it comes back', async (t) => {
  const { bench, approvals } = setUp(t);
  await take(bench, approvals, letter(bench, startRequests(KEY)));
  await bench.time.advance(1000);
  bench.list(EVENT_ID);
  bench.store.messageFault = () => new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  bench.poll();
  bench.store.messageFault = null;
  bench.end(EVENT_ID);
  bench.poll();
  bench.list(EVENT_ID, {});
  bench.poll();
  assert.deepEqual(bench.store.told, ['approval.failed ended orders']);
});

test('what cannot be stored when its event comes is recorded with a later document', async (t) => {
  const { bench, approvals } = setUp(t);
  await take(bench, approvals, letter(bench, startRequests(KEY)));
  bench.list(EVENT_ID);
  bench.store.messageFault = () => new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  bench.poll();
  assert.deepEqual(bench.store.told, []);
  bench.store.messageFault = null;
  bench.poll();
  assert.deepEqual(bench.store.told, ['approval.recorded orders']);
});

test('while nothing can be stored each document tries it once and leaves no line: whoever keeps the store tells it', async (t) => {
  const { bench, approvals } = setUp(t);
  for (let sent = 0; sent < 3; sent++) await take(bench, approvals, letter(bench, startRequests(KEY)));
  const lines = bench.log.length;
  bench.list(EVENT_ID);
  let tries = 0;
  bench.store.messageFault = () => {
    tries += 1;
    return new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  };
  for (let polls = 0; polls < 5; polls++) bench.poll();
  assert.deepEqual([tries, bench.log.slice(lines)], [5, []]);
});

test('of many that wait each is looked at once more when its own time is over, not all of them each time', async (t) => {
  const { bench, approvals } = setUp(t);
  for (let sent = 0; sent < 50; sent++) {
    await take(bench, approvals, letter(bench, startRequests(`event ${sent}`)));
    await bench.time.advance(10);
  }
  let looks = 0;
  const { lastEndedMs } = bench.store.known;
  bench.store.known.lastEndedMs = (key) => {
    looks += 1;
    return lastEndedMs(key);
  };
  await bench.time.advance(60_000);
  assert.equal(bench.store.published.length, 50);
  assert.ok(looks < 200, `${looks} looks`);
});

test('messages of two sources that bear the same id wait for themselves', async (t) => {
  const { bench, approvals } = setUp(t);
  const message = letter(bench, startRequests(KEY));
  await take(bench, approvals, message);
  await take(bench, approvals, message, { ...ORIGIN, source: 'other', approver: 'billing' });
  bench.list(EVENT_ID);
  bench.poll();
  assert.deepEqual(bench.store.told, ['approval.recorded orders', 'approval.recorded billing']);
  assert.deepEqual(bench.store.messages.parked(), []);
});

test('a mistake over one message does not hold up the others', async (t) => {
  const { bench, approvals } = setUp(t);
  await take(bench, approvals, letter(bench, startRequests('B')));
  await take(bench, approvals, letter(bench, startRequests('C')));
  for (const id of ['B', 'C']) bench.list(id);
  const [first] = bench.store.messages.parked();
  bench.store.messageFault = ({ id }) => (id === first?.id ? new Error('a mistake') : null);
  bench.poll();
  assert.deepEqual(
    bench.store.published.map(({ eventId }) => eventId),
    ['C'],
  );
});

test('a message of a queue that names an unknown event is given back after a pause of 1 to 5 s', async (t) => {
  const { bench, approvals } = setUp(t);
  const pauses: number[] = [];
  for (let round = 0; round < 50; round++) {
    const fromMs = bench.time.elapsedMs();
    const taken = approvals.take(QUEUE, letter(bench, startRequests(KEY))).then((verdict) => {
      pauses.push(bench.time.elapsedMs() - fromMs);
      return verdict;
    });
    assert.equal(await verdictOf(bench, taken, 5000), 'giveBack');
  }
  assert.ok(Math.min(...pauses) >= 1000 && Math.max(...pauses) <= 5000, pauses.join(' '));
  assert.ok(Math.max(...pauses) - Math.min(...pauses) > 2000, 'they are drawn');
  assert.deepEqual(new Set(bench.messages), new Set(['queue given_back']));
  assert.deepEqual([bench.store.published.length, bench.store.messages.parked().length], [0, 0]);
});

test('an event that comes within that pause is approved', async (t) => {
  const { bench, approvals } = setUp(t);
  const taken = approvals.take(QUEUE, letter(bench, startRequests(KEY)));
  await bench.time.advance(500);
  bench.list(EVENT_ID);
  bench.poll();
  assert.equal(await verdictOf(bench, taken, 5000), 'settle');
  assert.equal(bench.posts.length, 1);
});

test('a message of a queue that is refused for good is not given back', async (t) => {
  const { bench, approvals } = setUp(t);
  bench.list(EVENT_ID, { eventStatus: 'Started' });
  bench.poll();
  assert.equal(await verdictOf(bench, approvals.take(QUEUE, letter(bench, startRequests(KEY)))), 'started');
});

test('what waits to be given back is not settled where the bridge stops, and no timer stays', async (t) => {
  const { bench, approvals } = setUp(t);
  await take(bench, approvals, letter(bench, startRequests('Nobody')));
  const taken = approvals.take(QUEUE, letter(bench, startRequests(KEY)));
  await approvals[Symbol.asyncDispose]();
  assert.equal(await verdictOf(bench, taken), 'error BRIDGE_APPROVALS_CLOSED');
  assert.equal(bench.time.pending, 0);
});

test('the approver counts under whose name it came, though the configuration has changed since', async (t) => {
  const { bench, approvals } = setUp(t);
  await take(bench, approvals, letter(bench, startRequests(KEY)));
  bench.forgetReading();
  const restarted = bench.open({ approvers: { billing: {} } });
  t.after(() => bench.close(restarted));
  bench.list(EVENT_ID);
  bench.poll();
  assert.deepEqual(bench.store.told, ['approval.failed scope orders']);
});
