// A running bridge and another configuration → only what differs changes, whole or not at all.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Outcome } from '../../../adapters/adapter.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { failure } from '../../virtual/scripted-adapter.ts';
import { SECOND, type Settings, VirtualBridge } from '../../virtual/virtual-bridge.ts';
import { settle } from '../../virtual/virtual-time.ts';

const MEMORY = { type: 'memory' };
const ORDERS = { orders: { token: { env: 'ORDERS_TOKEN' }, admin: true } };
const BILLING = { billing: { token: { env: 'BILLING_TOKEN' } } };

/** With so many seconds of polls behind it. */
async function running(t: TestContext, settings: Settings): Promise<VirtualBridge> {
  const bridge = new VirtualBridge(t, settings);
  await bridge.startFor(2 * SECOND);
  return bridge;
}

function posts(bridge: VirtualBridge): number {
  return bridge.simulation.simulator.group.journal.requests().filter(({ method }) => method === 'POST').length;
}

/** A far side that answers when it is let go. */
function held(bridge: VirtualBridge, name: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  bridge.sink(name).answer = async (batch) => {
    await promise;
    return batch.map((): Outcome => 'accepted');
  };
  return resolve;
}

test('a file that says what it said changes nothing, and the log names who asked', async (t) => {
  const bridge = await running(t, { sinks: { audit: MEMORY } });
  assert.deepEqual(await bridge.reload(bridge.settings), { kind: 'applied', changed: [] });
  assert.deepEqual(await bridge.reload(bridge.settings, 'orders'), { kind: 'applied', changed: [] });
  assert.deepEqual(
    bridge.logged('was read again').map(({ by }) => by),
    ['SIGHUP', 'orders'],
  );
});

test('a deprecated setting is counted from the start and at each reload, and a reload logs it', async (t) => {
  const old = { audit: { ...MEMORY, former: 'x' } };
  const bridge = await running(t, { sinks: old });
  assert.deepEqual(await bridge.metrics(/^deprecated_settings/), ['deprecated_settings 1']);
  assert.equal((await bridge.reload({ sinks: { ...old, late: { ...MEMORY, former: 'y' } } })).kind, 'applied');
  await bridge.advance(2 * SECOND);
  assert.deepEqual(await bridge.metrics(/^deprecated_settings/), ['deprecated_settings 2']);
  assert.deepEqual(
    bridge.logged('DEPRECATED').map(({ msg }) => msg),
    ['audit', 'late'].map(
      (name) =>
        `DEPRECATED: sinks.${name}.former: use sinks.NAME.way (deprecated since 0.3.0, goes no earlier than 0.5.0)`,
    ),
  );
  assert.equal((await bridge.reload({ sinks: { audit: MEMORY } })).kind, 'applied');
  await bridge.advance(2 * SECOND);
  assert.deepEqual(await bridge.metrics(/^deprecated_settings/), ['deprecated_settings 0']);
  assert.equal(bridge.logged('DEPRECATED').length, 2);
});

test('a new sink gets what happens from then on, a filter judges the next change, and the others go on', async (t) => {
  const bridge = await running(t, { sinks: { audit: MEMORY } });
  bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  const sinks = { audit: { ...MEMORY, filter: { impacts: ['Reboot'] } }, late: MEMORY };
  assert.deepEqual(await bridge.reload({ sinks }), { kind: 'applied', changed: ['sinks.audit.filter', 'sinks.late'] });
  bridge.simulation.schedule({ EventType: 'Freeze' });
  bridge.simulation.schedule({ EventType: 'Reboot' });
  await bridge.advance(2 * SECOND);
  const types = (name: string) => bridge.sink(name).events.map(({ data }) => data['eventType']);
  assert.deepEqual(types('late'), ['Freeze', 'Reboot']);
  assert.deepEqual(types('audit'), ['Freeze', 'Reboot'], 'the first one came before the filter');
  assert.ok(
    (await bridge.sinkMetrics()).some((line) => line.startsWith('deliveries_total{sink="late",result="accepted"} 2')),
  );
});

test('a changed sink: what is under way ends under the old settings and is not repeated, what comes goes out by the new ones', async (t) => {
  const bridge = await running(t, { sinks: { audit: MEMORY, other: MEMORY } });
  const release = held(bridge, 'audit');
  bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  await bridge.reload({ sinks: { audit: { ...MEMORY, label: 'new', inFlight: 1 }, other: MEMORY } });
  bridge.simulation.schedule();
  await bridge.advance(20 * SECOND);
  assert.equal(bridge.sink('audit').calls, 2);
  assert.equal(bridge.sink('other').arrivals.length, 2);
  release();
  await bridge.advance(2 * SECOND);
  const ids = bridge.sink('audit').arrivals.map(({ id }) => id);
  assert.equal(ids.length, 2);
  assert.equal(new Set(ids).size, 2, 'none twice');
  assert.equal(bridge.sink('audit').calls, 2);
});

test('a sink that is changed twice while a delivery hangs continues with the last configuration', async (t) => {
  const bridge = await running(t, { sinks: { audit: MEMORY } });
  const release = held(bridge, 'audit');
  bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  await bridge.reload({ sinks: { audit: { ...MEMORY, label: 'one' } } });
  await bridge.reload({ sinks: { audit: { ...MEMORY, label: 'two', batch: 7 } } });
  release();
  await bridge.advance(SECOND);
  let largest = 0;
  bridge.sink('audit').answer = (batch) => {
    largest = Math.max(largest, batch.length);
    return batch.map(() => 'accepted');
  };
  for (let event = 0; event < 5; event++) bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  assert.equal(largest, 5);
  assert.equal(bridge.sink('audit').arrivals.length, 6);
});

test('a removed sink: what is under way may end, 8 s at most, the rest is dead-lettered as at a start, and nothing more comes', async (t) => {
  const bridge = await running(t, {
    sinks: { audit: MEMORY, quick: { ...MEMORY, inFlight: 1 }, stuck: { ...MEMORY, inFlight: 1 } },
  });
  const release = held(bridge, 'quick');
  bridge.sink('stuck').answer = (_, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  bridge.simulation.schedule();
  bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  await bridge.reload({ sinks: { audit: MEMORY } });
  const again = bridge.reload({ sinks: { audit: MEMORY, quick: MEMORY } });
  release();
  bridge.simulation.schedule();
  await bridge.advance(10 * SECOND);
  assert.deepEqual(await again, { kind: 'applied', changed: ['sinks.quick'] }, 'a reload waits for the one before it');
  assert.equal(bridge.sink('quick').arrivals.length, 1);
  assert.deepEqual(
    bridge.logged('no longer configured').map(({ sink, deadLettered }) => [sink, deadLettered]),
    [
      ['quick', 1],
      ['stuck', 2],
    ],
  );
  bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  assert.equal(bridge.sink('quick').arrivals.length, 2, 'it is a new sink then');
  using outbox = openOutbox(bridge.folder, { deps: bridge.time, lock: false });
  assert.equal(outbox.queue.backlog('stuck').dead, 2);
  assert.equal(outbox.queue.backlog('stuck').queued, 0);
});

test('an unchanged sink keeps its back-off, a changed one tries at once, and a change of the filter alone keeps it, too', async (t) => {
  const bridge = await running(t, { sinks: { same: MEMORY, filtered: MEMORY, changed: MEMORY } });
  const names = ['same', 'filtered', 'changed'];
  for (const name of names)
    bridge.sink(name).answer = (batch) => batch.map(() => failure({ disposition: 'misconfigured', scope: 'sink' }));
  bridge.simulation.schedule();
  await bridge.advance(60 * SECOND);
  const before = names.map((name) => bridge.sink(name).calls);
  const filter = { changes: ['scheduled', 'updated'] };
  await bridge.reload({
    sinks: { same: MEMORY, filtered: { ...MEMORY, filter }, changed: { ...MEMORY, label: 'new' } },
  });
  await settle();
  await bridge.advance(1);
  assert.deepEqual(
    names.map((name, index) => bridge.sink(name).calls - (before[index] ?? 0)),
    [0, 0, 1],
  );
});

test('a retired sink starts again if anything in its configuration changes, and no other sink does', async (t) => {
  const bridge = await running(t, { sinks: { a: MEMORY, b: MEMORY, c: MEMORY } });
  for (const name of ['a', 'b', 'c'])
    bridge.sink(name).answer = (batch) =>
      batch.map(() => failure({ disposition: 'retired', scope: 'sink', status: 410 }));
  bridge.simulation.schedule();
  await bridge.advance(5 * SECOND);
  for (const name of ['a', 'b', 'c']) bridge.sink(name).answer = (batch) => batch.map(() => 'accepted');
  await bridge.reload({
    sinks: { a: { ...MEMORY, label: 'new' }, b: { ...MEMORY, filter: { changes: ['scheduled'] } }, c: MEMORY },
  });
  await bridge.advance(5 * SECOND);
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => bridge.sink(name).arrivals.length),
    [1, 1, 0],
  );
});

test('a faulty file is refused with every fault, and so is a change that needs a restart; neither applies anything, and readyz and metrics show it', async (t) => {
  const approvals = { approvers: ORDERS };
  const bridge = await running(t, { sinks: { audit: MEMORY }, approvals });
  const ready = async () =>
    (await bridge.request('GET', '/readyz')).body as { ready: boolean; configuration: { refused: unknown } };
  assert.equal((await ready()).configuration.refused, null);
  const faulty = {
    publish: { resources: 'mine' },
    http: { listen: '127.0.0.1:1' },
    sinks: { audit: MEMORY, late: { type: 'nothing' } },
  };
  const refused = await bridge.reload(faulty);
  assert.ok(refused.kind === 'faulty');
  assert.deepEqual(refused.faults.map(({ path }) => path).sort(), ['publish.resources', 'sinks.late.type']);
  const answered = await bridge.request('POST', '/v1/reload', { as: 'orders' });
  assert.equal(answered.status, 422);
  assert.deepEqual((answered.body as { faults: unknown }).faults, refused.faults);
  const shown = await ready();
  assert.equal(shown.ready, true);
  assert.deepEqual((shown.configuration.refused as { faults: unknown; by: string }).faults, refused.faults);
  assert.ok(bridge.logged('publish.resources').length > 0);
  assert.ok((await bridge.metrics(/^config_/)).includes('config_last_reload_successful 0'));

  const restart = {
    http: { listen: '127.0.0.1:1' },
    store: { retain: '1d' },
    approvals,
    sinks: { audit: MEMORY, late: MEMORY },
  };
  assert.deepEqual(await bridge.reload(restart), { kind: 'needs-restart', restart: ['store', 'http.listen'] });
  bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  assert.deepEqual([bridge.sink('late').arrivals.length, bridge.sink('audit').arrivals.length], [0, 1]);

  assert.equal((await bridge.reload({ sinks: { audit: MEMORY, late: MEMORY }, approvals })).kind, 'applied');
  assert.equal((await ready()).configuration.refused, null);
  const metrics = await bridge.metrics(/^config_/);
  for (const line of [
    'config_reloads_total{result="faulty"} 2',
    'config_reloads_total{result="needs-restart"} 1',
    'config_reloads_total{result="applied"} 1',
    'config_last_reload_successful 1',
  ])
    assert.ok(metrics.includes(line), `${line} is not in ${metrics.join('\n')}`);
});

test('approvers and readers: new ones count at once, removed ones no longer, and a recorded approval of a removed one is void', async (t) => {
  const both = { required: 'all', approvers: { ...ORDERS, ...BILLING } };
  const bridge = await running(t, { approvals: both, sinks: { audit: MEMORY } });
  const { EventId } = bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  const body = { StartRequests: [{ EventId }] };
  assert.equal((await bridge.request('POST', '/v1/approvals', { as: 'billing', body })).status, 202);
  assert.equal((await bridge.request('POST', '/v1/reload', { as: 'billing' })).status, 403);
  bridge.settings = { ...bridge.settings, approvals: { required: 'all', approvers: ORDERS } };
  const answer = await bridge.request('POST', '/v1/reload', { as: 'orders' });
  assert.deepEqual([answer.status, answer.body], [200, { changed: ['approvals.approvers.billing'] }]);
  assert.equal((await bridge.request('POST', '/v1/approvals', { as: 'billing', body })).status, 401);
  await bridge.advance(2 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled', 'approval.recorded', 'approval.failed']);
  assert.equal(posts(bridge), 0);
  await bridge.reload({ ...bridge.settings, approvals: both });
  assert.equal((await bridge.request('POST', '/v1/approvals', { as: 'orders', body })).status, 202);
  assert.equal((await bridge.request('POST', '/v1/approvals', { as: 'billing', body })).status, 200);
  assert.equal(posts(bridge), 1);
});

test('a policy decides again at a reload, and a hold stays', async (t) => {
  const approvals = { approvers: { ...ORDERS, ...BILLING } };
  const bridge = await running(t, { approvals, sinks: { audit: MEMORY } });
  const [first, second] = [bridge.simulation.schedule(), bridge.simulation.schedule()];
  await bridge.advance(2 * SECOND);
  const hold = { EventId: first.EventId, reason: 'a backup runs' };
  assert.equal((await bridge.request('POST', '/v1/holds', { as: 'orders', body: hold })).status, 201);
  const policy = [{ when: {}, then: 'approve' }];
  assert.deepEqual(await bridge.reload({ approvals: { ...approvals, policy }, sinks: { audit: MEMORY } }), {
    kind: 'applied',
    changed: ['approvals.policy'],
  });
  await bridge.advance(2 * SECOND);
  assert.equal(posts(bridge), 1, second.EventId);
  await bridge.reload({ approvals, sinks: { audit: MEMORY } });
  assert.equal((await bridge.request('GET', `/v1/approvals/${first.EventId}`)).status, 200);
  const released = await bridge.during(
    fetch(`${bridge.bridge.url}/v1/holds/${first.EventId}`, {
      method: 'DELETE',
      headers: { Authorization: 'Bearer token-of-the-orders-service' },
    }),
  );
  assert.equal(released.status, 204);
  await bridge.advance(2 * SECOND);
  assert.equal(posts(bridge), 1, 'no rule decides it any more');
});

test('sources: a new one is read, one that is unchanged keeps its reader, a changed one is opened again, a removed one closed', async (t) => {
  const approvers = { ...ORDERS, ...BILLING };
  const source = { type: 'memory', approver: 'orders' };
  const bridge = await running(t, {
    approvals: { approvers, sources: { same: source, changed: source, gone: source } },
  });
  const sources = { same: source, changed: { ...source, approver: 'billing' }, added: source };
  assert.deepEqual(await bridge.reload({ approvals: { approvers, sources } }), {
    kind: 'applied',
    changed: ['approvals.sources.changed.approver', 'approvals.sources.gone', 'approvals.sources.added'],
  });
  await bridge.advance(3 * SECOND);
  const of = (name: string) => [bridge.source(name).receives.length, bridge.source(name).open];
  assert.deepEqual(['same', 'changed', 'gone', 'added'].map(of), [
    [1, 1],
    [2, 1],
    [1, 0],
    [1, 1],
  ]);
  assert.deepEqual((await bridge.metrics(/^approval_source_up/)).toSorted(), [
    'approval_source_up{source="added"} 1',
    'approval_source_up{source="changed"} 1',
    'approval_source_up{source="same"} 1',
  ]);
});

test('another interval, settle and type prefix hold, with a poll in every interval', async (t) => {
  const bridge = await running(t, { sinks: { audit: MEMORY } });
  const gets = () =>
    bridge.simulation.simulator.group.journal.requests().filter(({ path }) => path.includes('scheduledevents')).length;
  const before = gets();
  await bridge.reload({
    metadata: { pollInterval: '100ms' },
    cloudevents: { typePrefix: 'com.example' },
    sinks: { audit: MEMORY },
  });
  await bridge.advance(2 * SECOND);
  assert.ok(gets() - before >= 19, `${gets() - before} polls`);
  bridge.simulation.schedule();
  await bridge.advance(SECOND);
  assert.equal(bridge.sink('audit').events[0]?.type, 'com.example.scheduled.v1');
});

test('if the store fails, nothing of the new configuration applies, and the answer is 503', async (t) => {
  const both = { required: 'all', approvers: { ...ORDERS, ...BILLING } };
  const bridge = new VirtualBridge(t, { approvals: both, sinks: { audit: MEMORY } });
  bridge.maxPages = 400;
  await bridge.startFor(2 * SECOND);
  const events = Array.from({ length: 20 }, () => bridge.simulation.schedule());
  await bridge.advance(5 * SECOND);
  const body = { StartRequests: events.map(({ EventId }) => ({ EventId })) };
  assert.equal((await bridge.request('POST', '/v1/approvals', { as: 'billing', body })).status, 202);
  bridge.fillDisk();
  bridge.settings = { approvals: { ...both, approvers: ORDERS }, sinks: { audit: MEMORY, late: MEMORY } };
  const answer = await bridge.request('POST', '/v1/reload', { as: 'orders' });
  assert.equal(answer.status, 503, JSON.stringify(answer.body));
  bridge.freeDisk();
  const life = (await bridge.request('GET', `/v1/approvals/${events[0]?.EventId}`)).body as { approvedBy: string[] };
  assert.deepEqual(life.approvedBy, ['billing'], 'the vote stands, under the rules before');
  bridge.simulation.schedule();
  await bridge.advance(3 * SECOND);
  assert.deepEqual(bridge.sink('late').changes, []);
  assert.equal((await bridge.reload(bridge.settings)).kind, 'applied');
  bridge.simulation.schedule();
  await bridge.advance(3 * SECOND);
  assert.equal(bridge.sink('late').changes.filter((change) => change === 'scheduled').length, 1);
  assert.equal(bridge.sink('late').changes.filter((change) => change === 'approval.failed').length, 20);
});

test('several requests during one reload count as one, and the log names each approver who requests a reload', async (t) => {
  const bridge = await running(t, { sinks: { audit: MEMORY, gone: MEMORY } });
  bridge.sink('gone').answer = () => new Promise(() => {});
  bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  await bridge.reload({ sinks: { audit: MEMORY } });
  const waiting = [bridge.bridge.reload('SIGHUP'), bridge.bridge.reload('SIGHUP'), bridge.bridge.reload('orders')];
  await settle();
  assert.equal(bridge.logged('was read again').length, 1);
  await bridge.advance(10 * SECOND);
  await Promise.all(waiting);
  assert.deepEqual(
    bridge.logged('was read again').map(({ by }) => by),
    ['SIGHUP', 'SIGHUP, orders'],
  );
});

test('a bridge that ends in the middle of a reload leaves nothing behind', async (t) => {
  const bridge = await running(t, { sinks: { audit: MEMORY, gone: MEMORY } });
  const release = held(bridge, 'audit');
  bridge.sink('gone').answer = (_, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  const settings = { sinks: { audit: { ...MEMORY, label: 'new' }, late: MEMORY } };
  await bridge.reload(settings);
  await bridge.kill();
  release();
  bridge.sink('audit').answer = (batch) => batch.map(() => 'accepted');
  await bridge.startFor(2 * SECOND, settings);
  assert.deepEqual(
    bridge.logged('no longer configured').map(({ sink, deadLettered }) => [sink, deadLettered]),
    [['gone', 1]],
  );
  assert.equal(bridge.sink('audit').changes.at(-1), 'scheduled');
  await bridge.reload({ sinks: { audit: { ...MEMORY, label: 'newer' } } });
  await bridge.stop();
});
