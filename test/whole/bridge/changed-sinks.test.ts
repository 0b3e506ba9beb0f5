// A reload that changes a sink whose calls still run → only the keys of those calls wait.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Outcome } from '../../../adapters/adapter.ts';
import type { FarSide } from '../../virtual/memory-sinks.ts';
import { accept, failure } from '../../virtual/scripted-adapter.ts';
import { MINUTE, SECOND, type Settings, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const sinks = (label: string, more: object = {}): Settings => ({
  sinks: { audit: { type: 'memory', label, ...more } },
});

/** Calls that end when the test says so, oldest first, and those that came after `freely`. */
class HeldCalls {
  readonly #ends: ((outcomes: readonly Outcome[]) => void)[] = [];
  /** The far side accepts all that comes from now on; what is held stays. */
  readonly freely: () => void;

  constructor(side: FarSide) {
    side.answer = (_, signal) =>
      new Promise((resolve, reject) => {
        this.#ends.push(resolve);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    this.freely = () => {
      side.answer = accept;
    };
  }

  end(outcome: Outcome): void {
    this.#ends.shift()?.([outcome]);
  }
}

/** A delivery to `audit` by the label `old` is under way; the configuration is `next` now. */
async function changedDuringCall(t: TestContext, next: Settings, first = sinks('old')) {
  const bridge = new VirtualBridge(t, first);
  await bridge.startFor(2 * SECOND);
  const calls = new HeldCalls(bridge.sink('audit'));
  const { EventId } = bridge.simulation.schedule({ EventType: 'Reboot' });
  await bridge.advance(2 * SECOND);
  calls.freely();
  await bridge.reload(next);
  return { bridge, calls, key: EventId.toLowerCase() };
}

function arrivalsOf(bridge: VirtualBridge): string[] {
  return bridge.sink('audit').arrivals.map(({ label, change }) => `${label} ${change}`);
}

test('new events are sent with the new settings at once; the event of the running call waits for it, and that call counts', async (t) => {
  const { bridge, calls, key } = await changedDuringCall(t, sinks('new'));
  bridge.simulation.schedule({ EventType: 'Preempt' });
  await bridge.advance(2 * SECOND);
  assert.deepEqual(arrivalsOf(bridge), ['new scheduled']);
  bridge.simulation.send('POST', `/simulator/events/${key}/start`);
  await bridge.advance(MINUTE);
  assert.ok(
    !bridge.sink('audit').arrivals.some(({ partitionKey }) => partitionKey === key),
    'its next delivery waits, in order',
  );
  calls.end('accepted');
  await bridge.advance(2 * SECOND);
  const own = bridge.sink('audit').arrivals.filter(({ partitionKey }) => partitionKey === key);
  assert.deepEqual(
    own.map(({ label, change }) => `${label} ${change}`),
    ['old scheduled', 'new started'],
  );
});

test('a call of the old settings that fails goes again by the new ones at once', async (t) => {
  const { bridge, calls } = await changedDuringCall(t, sinks('new'));
  await bridge.advance(2 * SECOND);
  calls.end(failure({ disposition: 'misconfigured', scope: 'sink' }));
  await bridge.advance(1);
  await bridge.advance(1);
  assert.deepEqual(arrivalsOf(bridge), ['new scheduled']);
});

test('what a call of the old settings says of the sink does not hit the new ones: no retirement, no open breaker, no last error', async (t) => {
  for (const said of [
    failure({ disposition: 'retired', scope: 'sink', status: 410 }, 'the old address is gone'),
    failure({ disposition: 'retry', scope: 'sink', retryAfterMs: 600_000 }, 'the old address is overloaded'),
  ]) {
    const { bridge, calls } = await changedDuringCall(t, sinks('new'));
    calls.end(said);
    await bridge.advance(2 * SECOND);
    assert.deepEqual(arrivalsOf(bridge), ['new scheduled'], said.message);
    const { body } = await bridge.request('GET', '/v1/sinks');
    const [{ state, lastError }] = body as [{ state: string; lastError: unknown }];
    assert.deepEqual({ state, lastError }, { state: 'delivering', lastError: null }, said.message);
    assert.equal(
      bridge.beside('SELECT 1 FROM sinks WHERE retired_ms IS NOT NULL').length,
      0,
      'no restart finds it retired',
    );
    bridge.simulation.schedule();
    await bridge.advance(2 * SECOND);
    assert.equal(bridge.sink('audit').arrivals.length, 2);
  }
});

test('after several changes in a row each call counts, and each event has one call at a time', async (t) => {
  const bridge = new VirtualBridge(t, sinks('0'));
  await bridge.startFor(2 * SECOND);
  const calls = new HeldCalls(bridge.sink('audit'));
  for (const label of ['1', '2', '3']) {
    bridge.simulation.schedule();
    await bridge.advance(2 * SECOND);
    await bridge.reload(sinks(label));
  }
  assert.equal(bridge.sink('audit').calls, 3);
  calls.freely();
  bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  assert.deepEqual(arrivalsOf(bridge), ['3 scheduled']);
  for (let call = 0; call < 3; call++) calls.end('accepted');
  await bridge.advance(2 * SECOND);
  assert.deepEqual(arrivalsOf(bridge), ['3 scheduled', '0 scheduled', '1 scheduled', '2 scheduled']);
  assert.equal(bridge.sink('audit').calls, 4, 'none is repeated');
});

test('an outcome of the old settings that cannot be stored yet keeps its event waiting, and is not repeated', async (t) => {
  const { bridge, calls } = await changedDuringCall(t, sinks('new'));
  bridge.beside(`CREATE TRIGGER broken BEFORE UPDATE ON deliveries BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END`);
  calls.end('accepted');
  await bridge.advance(20 * SECOND);
  assert.equal(bridge.sink('audit').calls, 1);
  bridge.beside('DROP TRIGGER broken');
  await bridge.advance(20 * SECOND);
  assert.deepEqual(arrivalsOf(bridge), ['old scheduled']);
  assert.equal(bridge.beside(`SELECT 1 FROM deliveries WHERE state = 'queued'`).length, 0);
});

test('a sink that is removed right after a change lets both calls end, for 8 s at most, and is dropped then', async (t) => {
  const { bridge, calls } = await changedDuringCall(t, sinks('new'));
  const later = new HeldCalls(bridge.sink('audit'));
  bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  const { body } = await bridge.request('GET', '/readyz');
  assert.ok('audit' in (body as { sinks: object }).sinks);
  await bridge.reload({ sinks: { other: { type: 'memory' } } });
  await bridge.advance(2 * SECOND);
  calls.end('accepted');
  await bridge.advance(5 * SECOND);
  assert.deepEqual(bridge.logged('no longer configured'), []);
  await bridge.advance(3 * SECOND);
  assert.deepEqual(
    bridge.logged('no longer configured').map(({ deadLettered }) => deadLettered),
    [1],
  );
  later.end('accepted');
  await bridge.advance(SECOND);
  assert.deepEqual(arrivalsOf(bridge), ['old scheduled']);
});

test('a stop lets calls of the old settings end as those of the new ones, within 16 s in all', async (t) => {
  const { bridge, calls } = await changedDuringCall(
    t,
    sinks('new', { closeMs: 8000 }),
    sinks('old', { closeMs: 8000 }),
  );
  bridge.sink('audit').close = () => new Promise((resolve) => bridge.time.after(7 * SECOND, resolve));
  const later = new HeldCalls(bridge.sink('audit'));
  bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  bridge.time.after(SECOND, () => calls.end('accepted'));
  await bridge.stop(16 * SECOND);
  later.end('accepted');
  assert.deepEqual(arrivalsOf(bridge), ['old scheduled']);
  bridge.sink('audit').answer = accept;
  bridge.sink('audit').close = async () => {};
  await bridge.startFor(2 * SECOND);
  assert.deepEqual(arrivalsOf(bridge), ['old scheduled', 'new scheduled'], 'what was accepted is not repeated');
  await bridge.stop();
});

test('the rate counts what the old settings sent and what they still send', async (t) => {
  const { bridge, calls } = await changedDuringCall(t, sinks('new', { perMinute: 2 }), sinks('old', { perMinute: 2 }));
  for (let event = 0; event < 3; event++) bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  assert.equal(bridge.sink('audit').calls, 2, 'one of the old settings, one of the new');
  calls.end('accepted');
  await bridge.advance(2 * SECOND);
  assert.equal(bridge.sink('audit').calls, 2);
  await bridge.kill();
  await bridge.startFor(2 * SECOND);
  assert.equal(bridge.sink('audit').calls, 2, 'a restart knows of both');
  await bridge.advance(MINUTE);
  assert.equal(bridge.sink('audit').calls, 4);
});

test('a sink that writes a file waits for the writer before it, 5 s at most', async (t) => {
  const file = { file: '/var/log/events' };
  const { bridge, calls } = await changedDuringCall(t, sinks('new', file), sinks('old', file));
  bridge.simulation.schedule();
  await bridge.advance(3 * SECOND);
  assert.deepEqual(arrivalsOf(bridge), []);
  calls.end('accepted');
  await bridge.advance(SECOND);
  assert.deepEqual(arrivalsOf(bridge), ['old scheduled', 'new scheduled']);
  const hung = new HeldCalls(bridge.sink('audit'));
  bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  hung.freely();
  await bridge.reload(sinks('newer', file));
  await bridge.advance(4 * SECOND);
  assert.equal(bridge.sink('audit').arrivals.length, 2);
  await bridge.advance(2 * SECOND);
  assert.equal(arrivalsOf(bridge).at(-1), 'newer scheduled');
});

test('two sinks that exchange their files never write one file at once', async (t) => {
  const files = (a: string, b: string): Settings => ({
    sinks: { audit: { type: 'memory', file: a }, other: { type: 'memory', file: b } },
  });
  const bridge = new VirtualBridge(t, files('/a', '/b'));
  await bridge.startFor(2 * SECOND);
  const calls = new HeldCalls(bridge.sink('other'));
  bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  calls.freely();
  await bridge.reload(files('/b', '/a'));
  bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  assert.equal(bridge.sink('audit').calls, 1, 'the other one still writes /b');
  assert.equal(bridge.sink('other').calls, 2, 'nobody writes /a any more');
  calls.end('accepted');
  await bridge.advance(2 * SECOND);
  assert.equal(bridge.sink('audit').calls, 2);
});

test('a call of before the reload stays visible as running until it ends, in the list of sinks and in the journal', async (t) => {
  const { bridge, calls, key } = await changedDuringCall(t, sinks('new'));
  bridge.sink('audit').last = 'connections left: 3';
  const running = async () => {
    const { body } = await bridge.request('GET', '/v1/sinks');
    const { body: journal } = await bridge.request('GET', `/v1/journal?event=${key}`);
    const [sink] = body as { running: readonly Record<string, unknown>[] }[];
    const [item] = (journal as { items: { deliveries: { running: Record<string, unknown> | null }[] }[] }).items;
    return [sink?.running, item?.deliveries[0]?.running];
  };
  const [[work] = [], inJournal] = (await running()) as [Record<string, unknown>[], Record<string, unknown>];
  const { since, ...rest } = work ?? {};
  assert.deepEqual(rest, { eventId: key, attempt: 1, last: 'connections left: 3' });
  assert.match(String(since), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.deepEqual(inJournal, { since, attempt: 1, last: 'connections left: 3' });
  calls.end('accepted');
  await bridge.advance(2 * SECOND);
  assert.deepEqual(await running(), [[], null]);
});

test('an adapter gets the secrets of the configuration in force, to hide them', async (t) => {
  const approvers = (token: string) => ({ approvals: { approvers: { orders: { token: { env: token } } } } });
  const bridge = new VirtualBridge(t, { ...sinks('one'), ...approvers('ORDERS_TOKEN') });
  await bridge.startFor(2 * SECOND);
  const { secrets } = bridge.sink('audit');
  assert.equal(secrets().length, 1);
  const before = secrets();
  await bridge.reload({ ...sinks('one'), ...approvers('BILLING_TOKEN') });
  assert.notDeepEqual(secrets(), before, 'the adapter is the same, as the sink has not changed');
});
