// Sinks that act on the machine, over a whole bridge → what is held, approved and posted.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Acceptance } from '../../../adapters/adapter.ts';
import type { Answer } from '../../virtual/scripted-adapter.ts';
import { MINUTE, SECOND, type Settings, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const DONE: Acceptance = { result: 'accepted', approves: true };
const SUPERSEDED: Acceptance = { result: 'accepted', status: 'superseded' };
const DRAIN = {
  type: 'memory',
  approve: 'node',
  hold: true,
  filter: { changes: ['scheduled', 'updated', 'started', 'ended'] },
};
const APPROVERS = {
  node: {},
  orders: { token: { env: 'ORDERS_TOKEN' } },
  billing: { token: { env: 'BILLING_TOKEN' }, admin: true },
};

function settings(drain: object = {}, more: { readonly approvals?: object; readonly sinks?: object } = {}): Settings {
  return {
    approvals: { approvers: APPROVERS, ...more.approvals },
    sinks: { audit: { type: 'memory' }, drain: { ...DRAIN, ...drain }, ...more.sinks },
  };
}

/** A preparation of so long; one that is superseded or aborted ends at once, and recovery takes no time. */
function drainIn(bridge: VirtualBridge, ms: number): Answer {
  return ([row], signal, superseded) =>
    new Promise((resolve, reject) => {
      if (row?.change !== 'scheduled' && row?.change !== 'updated') return resolve(['accepted']);
      bridge.time.after(ms, () => resolve([DONE]));
      superseded?.addEventListener('abort', () => resolve([SUPERSEDED]), { once: true });
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
}

function startBridge(t: TestContext, drainMs: number, given = settings()): VirtualBridge {
  const bridge = new VirtualBridge(t, given);
  bridge.sink('drain').answer = drainIn(bridge, drainMs);
  return bridge;
}

function posts(bridge: VirtualBridge): readonly (number | null)[] {
  const { journal } = bridge.simulation.simulator.group;
  return journal
    .requests()
    .filter(({ method }) => method === 'POST')
    .map(({ status }) => status);
}

async function recordOf(bridge: VirtualBridge, eventId: string): Promise<readonly string[]> {
  const { body } = await bridge.request('GET', `/v1/approvals/${eventId}`, { as: 'orders' });
  const { steps } = body as {
    steps: readonly { step: string; approver: string | null; via: string | null; reason: string | null }[];
  };
  return steps.map(({ step, approver, via, reason }) =>
    [step, approver, via, reason].filter((part) => part !== null).join(' '),
  );
}

function approve(bridge: VirtualBridge, EventId: string) {
  return bridge.request('POST', '/v1/approvals', { as: 'orders', body: { StartRequests: [{ EventId }] } });
}

test('an event is held from the transaction that stores it until its preparation is done, then posted once, and undone after it', async (t) => {
  const bridge = startBridge(t, MINUTE);
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  const early = await approve(bridge, EventId);
  const held = (early.body as { results: readonly { state: string; heldBy: readonly string[] }[] }).results[0];
  assert.deepEqual([early.status, held?.state, held?.heldBy], [202, 'held', ['node']]);
  await bridge.advance(50 * SECOND);
  assert.deepEqual(posts(bridge), []);
  await bridge.advance(20 * SECOND);
  assert.deepEqual(posts(bridge), [200]);
  await bridge.advance(12 * MINUTE);
  assert.deepEqual(bridge.sink('drain').changes, ['scheduled', 'started', 'ended']);
  assert.deepEqual(posts(bridge), [200]);
  assert.deepEqual(await recordOf(bridge, EventId), [
    'held node sink:drain sink drain prepares',
    'recorded orders token',
    'decided quorum',
    'recorded node sink:drain',
    'released node sink:drain node',
    'submitted',
    'confirmed',
  ]);
});

test('a rule that approves waits for the preparation, and GET /v1/events says for what', async (t) => {
  const bridge = startBridge(t, MINUTE, settings({}, { approvals: { policy: [{ when: {}, then: 'approve' }] } }));
  bridge.simulation.schedule();
  await bridge.startFor(5 * SECOND);
  const { body } = await bridge.request('GET', '/v1/events', { as: 'orders' });
  const [event] = (body as { events: readonly { approval: { state: string; holds: readonly object[] } }[] }).events;
  assert.equal(event?.approval.state, 'held');
  assert.partialDeepStrictEqual(event?.approval.holds, [{ approver: 'node', reason: 'sink drain prepares' }]);
  assert.deepEqual(posts(bridge), []);
  await bridge.advance(MINUTE);
  assert.deepEqual(posts(bridge), [200]);
});

test('a preparation for an event that got worse since does not approve, and is reported; the one for the worse event approves', async (t) => {
  const bridge = startBridge(t, 30 * SECOND);
  const { EventId } = bridge.simulation.schedule({ EventType: 'Freeze', DurationInSeconds: 5 });
  await bridge.startFor(2 * SECOND);
  bridge.simulation.order('PATCH', `/events/${EventId}`, { DurationInSeconds: 600 });
  await bridge.advance(35 * SECOND);
  assert.deepEqual(posts(bridge), []);
  const failed = bridge.sink('audit').events.find(({ type }) => type.includes('approval.failed'));
  assert.deepEqual([failed?.data.reason, failed?.data.approver], ['changed', 'node']);
  assert.deepEqual(bridge.sink('drain').changes, ['scheduled']);
  await bridge.advance(30 * SECOND);
  assert.deepEqual(posts(bridge), [200]);
});

test('an approval whose event gets worse before the StartRequest is void, and the event is held again until it is prepared', async (t) => {
  const given = settings({}, { approvals: { required: ['node', 'orders'] } });
  const bridge = startBridge(t, 30 * SECOND, given);
  const { EventId } = bridge.simulation.schedule({ EventType: 'Freeze', DurationInSeconds: 5 });
  await bridge.startFor(40 * SECOND);
  bridge.simulation.order('PATCH', `/events/${EventId}`, { DurationInSeconds: 600 });
  await bridge.advance(3 * SECOND);
  assert.equal((await approve(bridge, EventId)).status, 202);
  assert.deepEqual(posts(bridge), []);
  await bridge.advance(40 * SECOND);
  assert.deepEqual(posts(bridge), [200]);
  const steps = await recordOf(bridge, EventId);
  assert.equal(steps.filter((step) => step === 'held node sink:drain sink drain prepares').length, 2);
  assert.ok(steps.includes('void node sink:drain'));
});

test('a sink whose approver may not approve the event approves nothing, and its delivery is accepted', async (t) => {
  const approvers = { ...APPROVERS, node: { scope: { impacts: ['Freeze'] } } };
  const bridge = startBridge(t, SECOND, settings({ hold: false }, { approvals: { approvers } }));
  bridge.simulation.schedule({ EventType: 'Redeploy' });
  await bridge.startFor(20 * SECOND);
  assert.deepEqual(posts(bridge), []);
  assert.deepEqual(
    bridge.sink('audit').events.flatMap(({ data: { reason, approver } }) => (reason ? [`${approver} ${reason}`] : [])),
    ['node scope'],
  );
  assert.deepEqual(
    bridge.beside(`SELECT state FROM deliveries WHERE sink = 'drain'`).map(({ state }) => state),
    ['delivered'],
  );
});

test('an admin may release what a sink holds, and it is not held again by another change', async (t) => {
  const bridge = startBridge(t, 10 * MINUTE);
  const { EventId } = bridge.simulation.schedule({ EventType: 'Freeze', DurationInSeconds: 5 });
  await bridge.startFor(2 * SECOND);
  const released = await bridge.request('DELETE', `/v1/holds/${EventId}`, { as: 'billing' }).catch(() => null);
  bridge.simulation.order('PATCH', `/events/${EventId}`, { DurationInSeconds: 600 });
  await bridge.advance(3 * SECOND);
  await approve(bridge, EventId);
  await bridge.advance(3 * SECOND);
  assert.deepEqual([released === null || released.status === 204, posts(bridge)], [true, [200]]);
});

test('a bridge killed after the approval posts it once after its restart; one killed before prepares again', async (t) => {
  const bridge = startBridge(t, 30 * SECOND, settings({ filter: { changes: ['scheduled'] } }));
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(20 * SECOND);
  await bridge.kill();
  await bridge.startFor(20 * SECOND);
  assert.deepEqual([posts(bridge), bridge.sink('drain').arrivals.length], [[], 0]);
  bridge.simulation.send('PUT', '/simulator/faults', { body: { method: 'POST', status: 503, times: 1 } });
  await bridge.advance(10_500);
  const before = posts(bridge);
  await bridge.kill();
  await bridge.startFor(10 * SECOND);
  assert.equal(bridge.sink('drain').arrivals.length, 1);
  assert.deepEqual([before.length <= 1, posts(bridge).filter((status) => status === 200)], [true, [200]]);
  assert.ok((await recordOf(bridge, EventId)).includes('recorded node sink:drain'));
});

test('in a full store, neither the delivery nor its approval is stored; later both are, and other sinks continue meanwhile', async (t) => {
  const bridge = startBridge(t, 30 * SECOND, {
    ...settings({ filter: { changes: ['scheduled'] } }),
    store: { maxSize: '16MiB' },
  });
  bridge.simulation.schedule();
  await bridge.startFor(20 * SECOND);
  bridge.beside('CREATE TABLE filler (bytes BLOB)');
  bridge.beside(`INSERT INTO filler VALUES (zeroblob(${16 * 1024 ** 2 - 64 * 1024}))`);
  await bridge.advance(20 * SECOND);
  const state = () => bridge.beside(`SELECT state FROM deliveries WHERE sink = 'drain'`).map((row) => row['state']);
  assert.deepEqual([state(), posts(bridge)], [['queued'], []]);
  const others = bridge.sink('audit').changes;
  bridge.freeDisk();
  await bridge.advance(15 * SECOND);
  assert.deepEqual([posts(bridge), bridge.sink('drain').arrivals.length], [[200], 1]);
  assert.deepEqual([others, state().filter((each) => each !== 'delivered')], [['scheduled'], []]);
});

test('a machine that restarts during the preparation undoes it afterwards, in order', async (t) => {
  const bridge = startBridge(t, 10 * MINUTE, settings({ hold: false }));
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(5 * SECOND);
  await bridge.kill();
  bridge.simulation.advance('20m');
  bridge.sink('drain').answer = drainIn(bridge, MINUTE);
  await bridge.startFor(5 * SECOND);
  await bridge.advance(30 * MINUTE);
  const { arrivals, changes } = bridge.sink('drain');
  assert.deepEqual([changes[0], changes.at(-1)], ['scheduled', 'ended']);
  assert.deepEqual(
    arrivals.map(({ partitionKey }) => partitionKey),
    arrivals.map(() => EventId.toLowerCase()),
  );
  assert.deepEqual(posts(bridge), []);
});

test('a preparation is ended after any change of its event, and so is one that a restart finds superseded', async (t) => {
  const bridge = startBridge(
    t,
    4 * MINUTE,
    settings({ hold: false, cancel: true, filter: { changes: ['scheduled', 'ended'] } }),
  );
  const first = bridge.simulation.schedule();
  await bridge.startFor(5 * SECOND);
  bridge.simulation.order('POST', `/events/${first.EventId}/start`);
  await bridge.advance(3 * SECOND);
  const rows = () =>
    bridge
      .beside(`SELECT state, status FROM deliveries WHERE sink = 'drain' ORDER BY seq`)
      .map(({ state, status }) => `${state} ${status}`);
  assert.deepEqual(rows(), ['delivered superseded']);
  bridge.simulation.schedule();
  await bridge.advance(3 * SECOND);
  await bridge.kill();
  const calls = bridge.sink('drain').calls;
  bridge.simulation.advance('1h');
  await bridge.startFor(MINUTE);
  await bridge.advance(10 * MINUTE);
  assert.ok(rows().filter((row) => row === 'delivered superseded').length >= 2, rows().join());
  assert.deepEqual(bridge.sink('drain').changes.filter((change) => change === 'scheduled').length, 1);
  assert.ok(bridge.sink('drain').calls > calls);
  assert.deepEqual(posts(bridge), []);
});

test('a sink that no longer holds releases its holds; one that starts to hold holds the events that come from then on', async (t) => {
  const bridge = startBridge(t, 10 * MINUTE);
  const first = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  await approve(bridge, first.EventId);
  assert.deepEqual(posts(bridge), []);
  assert.equal((await bridge.reload(settings({ hold: false }))).kind, 'applied');
  await bridge.advance(3 * SECOND);
  assert.deepEqual(posts(bridge), [200]);
  assert.equal((await bridge.reload(settings({ hold: true }))).kind, 'applied');
  const second = bridge.simulation.schedule({ EventType: 'Redeploy' });
  await bridge.advance(3 * SECOND);
  assert.equal((await approve(bridge, second.EventId)).status, 202);
  await bridge.advance(3 * SECOND);
  assert.deepEqual(posts(bridge), [200]);
});

const AUDIT = { audit: { type: 'memory' } };
/** Who may approve whatever the sinks say. */
const NAMED = { approvers: { node: { token: { env: 'BILLING_TOKEN' } }, orders: { token: { env: 'ORDERS_TOKEN' } } } };
const REVOKED: Readonly<Record<string, Settings>> = {
  'the sink is gone': { approvals: NAMED, sinks: AUDIT },
  'approve is gone': { approvals: NAMED, sinks: { ...AUDIT, drain: { type: 'memory', filter: DRAIN.filter } } },
  'approve names another': settings({ approve: 'orders' }, { approvals: NAMED }),
  'the sink acts on no such event': settings({ ownOnly: true }, { approvals: NAMED }),
};

for (const [what, after] of Object.entries(REVOKED)) {
  test(`a run ends well after a reload by which ${what}: its delivery is accepted, its approval no longer counts, and approval.failed reports it`, async (t) => {
    const bridge = startBridge(t, 5 * SECOND, settings({}, { approvals: NAMED }));
    const { EventId } = bridge.simulation.schedule({ Resources: ['another_1'] });
    await bridge.startFor(2 * SECOND);
    assert.equal((await bridge.reload(after)).kind, 'applied');
    await bridge.advance(6 * SECOND);
    assert.deepEqual(posts(bridge), []);
    const steps = await recordOf(bridge, EventId);
    assert.ok(!steps.some((step) => step.startsWith('recorded')), steps.join());
    const failed = bridge.sink('audit').events.filter(({ type }) => type.endsWith('approval.failed.v1'));
    assert.deepEqual(
      failed.map(({ data }) => [data.eventId, data.approver, data.reason]),
      [[EventId, 'node', 'forbidden']],
    );
    assert.equal(bridge.sink('drain').arrivals.length, 1);
    assert.deepEqual(bridge.beside("SELECT sink FROM deliveries WHERE sink = 'drain' AND state <> 'delivered'"), []);
    assert.equal(bridge.logged('an approval was refused').length, 1);
    await bridge.advance(MINUTE);
    assert.deepEqual(posts(bridge), []);
  });
}

test('a run that ends after another reload counts as the sink in force says, and one whose sink approves as before counts', async (t) => {
  const bridge = startBridge(t, 10 * SECOND, settings({}, { approvals: NAMED }));
  bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  assert.equal((await bridge.reload(settings({ approve: 'orders' }, { approvals: NAMED }))).kind, 'applied');
  assert.equal(
    (await bridge.reload(settings({ label: 'changed', hold: false }, { approvals: NAMED }))).kind,
    'applied',
  );
  await bridge.advance(10 * SECOND);
  assert.deepEqual(posts(bridge), [200]);
});

test('two sinks of one approver hold each for itself', async (t) => {
  const bridge = startBridge(t, 10 * SECOND, settings({}, { sinks: { flush: DRAIN } }));
  bridge.sink('flush').answer = drainIn(bridge, 40 * SECOND);
  bridge.simulation.schedule();
  await bridge.startFor(30 * SECOND);
  assert.deepEqual(posts(bridge), []);
  await bridge.advance(15 * SECOND);
  assert.deepEqual(posts(bridge), [200]);
});

test('in a dry run everything is held and reported, and nothing is posted', async (t) => {
  const bridge = startBridge(t, 10 * SECOND, settings({}, { approvals: { dryRun: true } }));
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(30 * SECOND);
  assert.deepEqual(posts(bridge), []);
  assert.deepEqual((await recordOf(bridge, EventId)).slice(0, 3), [
    'held node sink:drain sink drain prepares',
    'recorded node sink:drain',
    'released node sink:drain node',
  ]);
});

/** The same service, whose instance route is busy. */
function busyInstance(service: VirtualBridge['service']): VirtualBridge['service'] {
  const busy = { status: 503, headers: {}, body: new Uint8Array() };
  return async (request, signal) => (request.url.includes('/instance') ? busy : await service(request, signal));
}

test('a yes that comes before documents are handled, as the source is unknown, waits with its sink alone', async (t) => {
  const given = settings({ filter: { changes: ['scheduled'] } });
  const bridge = startBridge(t, 20 * SECOND, given);
  const { service } = bridge;
  bridge.service = busyInstance(service);
  bridge.simulation.schedule();
  await bridge.startFor(10 * SECOND, { ...given, cloudevents: { source: '/by/hand' } });
  await bridge.kill();
  await bridge.startFor(40 * SECOND, given);
  const held = [posts(bridge).length, bridge.sink('drain').arrivals.length];
  bridge.service = service;
  await bridge.advance(3 * MINUTE);
  assert.deepEqual([held, posts(bridge), bridge.sink('drain').arrivals.length], [[0, 1], [200], 1]);
});

test('an approval that comes before the VM is identified counts at once if documents are handled', async (t) => {
  const bridge = startBridge(t, 20 * SECOND, settings({ filter: { changes: ['scheduled'] } }));
  bridge.simulation.schedule();
  await bridge.startFor(10 * SECOND);
  await bridge.kill();
  bridge.service = busyInstance(bridge.service);
  await bridge.startFor(27 * SECOND);
  assert.deepEqual([posts(bridge), bridge.sink('drain').arrivals.length], [[200], 1]);
});

test('a stop lets an adapter end what it began for as long as its limits name, 16 s in all', async (t) => {
  const bridge = startBridge(t, 10 * MINUTE, settings({ closeMs: 7000 }));
  bridge.sink('drain').close = () => new Promise((resolve) => bridge.time.after(6500, resolve));
  bridge.simulation.schedule();
  await bridge.startFor(5 * SECOND);
  bridge.sink('drain').notes?.write(1, 'a run');
  await bridge.stop(16 * SECOND);
  assert.deepEqual(bridge.logged('could not be closed cleanly'), []);
  await bridge.startFor(5 * SECOND);
  assert.deepEqual(bridge.sink('drain').notes?.all(), [{ seq: 1, text: 'a run' }]);
});
