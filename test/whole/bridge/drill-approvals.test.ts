// Every way in which a StartRequest comes to be posted, with drills → no request names one.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Acceptance } from '../../../adapters/adapter.ts';
import type { DrillReport } from '../../../src/drills/report.ts';
import { MINUTE, SECOND, type Settings, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const ORDERS = { token: { env: 'ORDERS_TOKEN' }, admin: true };
const BILLING = { token: { env: 'BILLING_TOKEN' } };
const BOTH = { orders: ORDERS, billing: BILLING };

function settings(approvals: object = {}, more: Settings = {}): Settings {
  return { approvals: { approvers: BOTH, ...approvals }, sinks: { audit: { type: 'memory' } }, ...more };
}

/** A real event stands beside it, for which the same way ends at the metadata service. */
async function running(t: TestContext, given: Settings): Promise<{ bridge: VirtualBridge; real: string }> {
  const bridge = new VirtualBridge(t, given);
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  return { bridge, real: EventId };
}

async function begin(bridge: VirtualBridge, body: object = {}): Promise<string> {
  const answer = await bridge.request('POST', '/v1/drills', {
    as: 'orders',
    body: { force: true, notice: '10m', duration: '1h', ...body },
  });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return (answer.body as { id: string }).id;
}

async function stateOf(bridge: VirtualBridge, id: string): Promise<string> {
  return ((await bridge.request('GET', `/v1/drills/${id}`, { as: 'orders' })).body as DrillReport).state;
}

function approve(bridge: VirtualBridge, ids: readonly string[], as: 'orders' | 'billing' = 'orders') {
  return bridge.request('POST', '/v1/approvals', { as, body: { StartRequests: ids.map((EventId) => ({ EventId })) } });
}

/** Whatever reached the metadata service with a body. */
function posted(bridge: VirtualBridge): number {
  return bridge.simulation.simulator.group.journal.requests().filter(({ method }) => method === 'POST').length;
}

/**
 * The drill started by its approval, the real event was posted so many times, and the guard of the last door never had
 * to hold.
 */
async function concluded(bridge: VirtualBridge, id: string, posts: number): Promise<void> {
  assert.equal(await stateOf(bridge, id), 'started');
  assert.equal(posted(bridge), posts);
  assert.deepEqual(bridge.logged('could not be processed'), []);
}

test('approved over HTTP, together with a real event: that alone is posted', async (t) => {
  const { bridge, real } = await running(t, settings());
  const id = await begin(bridge);
  const answer = await approve(bridge, [real, `DRILL-${id.toUpperCase()}`]);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  await bridge.advance(SECOND);
  await concluded(bridge, id, 1);
});

test('approved by a CloudEvent in structured mode', async (t) => {
  const { bridge } = await running(t, settings());
  const id = await begin(bridge);
  const data = { StartRequests: [{ EventId: `drill-${id}` }] };
  const event = { specversion: '1.0', id: '1', source: '/orders', type: 'approval', data };
  const headers = {
    authorization: 'Bearer token-of-the-orders-service',
    'content-type': 'application/cloudevents+json',
  };
  const init = { method: 'POST', headers, body: JSON.stringify(event) };
  assert.equal((await bridge.during(fetch(`${bridge.bridge.url}/v1/approvals`, init))).status, 200);
  await bridge.advance(SECOND);
  await concluded(bridge, id, 0);
});

test('a rule that approves at once, and one whose deadline comes', async (t) => {
  const { bridge } = await running(t, settings({ policy: [{ when: {}, then: 'approve' }] }));
  const id = await begin(bridge);
  await bridge.advance(2 * SECOND);
  await concluded(bridge, id, 1);
  const late = [{ when: {}, then: 'wait', deadline: { before: '5m', then: 'approve' } }];
  const other = await bridge.reload(settings({ policy: late }));
  if (other.kind !== 'applied') return assert.fail(JSON.stringify(other));
  const second = await begin(bridge);
  await bridge.advance(6 * MINUTE);
  assert.equal(await stateOf(bridge, second), 'started');
  assert.equal(posted(bridge), 1);
});

test('required: all, the last of them says yes; and the release of the last hold', async (t) => {
  const { bridge } = await running(t, settings({ required: 'all' }));
  const id = await begin(bridge);
  assert.equal((await approve(bridge, [`drill-${id}`])).status, 202);
  assert.equal(
    (await bridge.request('POST', '/v1/holds', { as: 'billing', body: { EventId: `drill-${id}`, reason: 'busy' } }))
      .status,
    201,
  );
  assert.equal((await approve(bridge, [`drill-${id}`], 'billing')).status, 202);
  await bridge.advance(2 * SECOND);
  assert.equal(await stateOf(bridge, id), 'scheduled');
  const headers = { authorization: 'Bearer token-of-the-billing-service' };
  const release = fetch(`${bridge.bridge.url}/v1/holds/drill-${id}`, { method: 'DELETE', headers });
  assert.equal((await bridge.during(release)).status, 204);
  await bridge.advance(2 * SECOND);
  await concluded(bridge, id, 0);
});

test('in a group that another machine leads, a drill belongs to this bridge and waits for no turn', async (t) => {
  const bridge = new VirtualBridge(
    t,
    settings({ group: { submit: 'leader', failoverAfter: '5m', members: ['other-vm'] } }),
  );
  await bridge.startFor(2 * SECOND);
  const id = await begin(bridge, { resources: ['some-vm'] });
  assert.equal((await approve(bridge, [`drill-${id}`])).status, 200);
  await bridge.advance(2 * SECOND);
  await concluded(bridge, id, 0);
});

test('a message of a source', async (t) => {
  const topic = { type: 'memory', approver: 'ops' };
  const { bridge } = await running(t, settings({ approvers: { ...BOTH, ops: {} }, sources: { topic } }));
  const id = await begin(bridge);
  bridge.source('topic').approve(`drill-${id}`);
  await bridge.advance(3 * SECOND);
  assert.deepEqual(bridge.source('topic').verdicts, ['settle']);
  await concluded(bridge, id, 0);
});

test("a sink's yes after its hold", async (t) => {
  const drain = { type: 'memory', approve: 'node', hold: true };
  const given = settings({ approvers: { ...BOTH, node: {} } }, { sinks: { drain } });
  const bridge = new VirtualBridge(t, given);
  const done: Acceptance = { result: 'accepted', approves: true };
  bridge.sink('drain').answer = async (rows) => rows.map(({ change }) => (change === 'scheduled' ? done : 'accepted'));
  await bridge.startFor(2 * SECOND);
  const id = await begin(bridge);
  await bridge.advance(5 * SECOND);
  await concluded(bridge, id, 0);
});

test('a reload by which the rules approve', async (t) => {
  const bridge = new VirtualBridge(t, settings());
  await bridge.startFor(2 * SECOND);
  const id = await begin(bridge);
  assert.equal((await bridge.reload(settings({ policy: [{ when: {}, then: 'approve' }] }))).kind, 'applied');
  await bridge.advance(2 * SECOND);
  await concluded(bridge, id, 0);
});

/** From now on nothing that says this of an approval can be stored; what it returns ends that. */
function noRoomFor(bridge: VirtualBridge, state: string): () => void {
  bridge.beside(
    `CREATE TRIGGER no_room BEFORE INSERT ON approvals WHEN NEW.state = '${state}' BEGIN SELECT RAISE(ABORT, 'no room'); END`,
  );
  return () => bridge.beside('DROP TRIGGER no_room');
}

function storedState(bridge: VirtualBridge, id: string): unknown {
  return bridge.beside(`SELECT state FROM approvals WHERE key = 'drill-${id}'`)[0]?.['state'];
}

test("the bridge's own answer cannot be stored: it is stored once there is room, and the drill starts once", async (t) => {
  const { bridge } = await running(t, settings());
  const id = await begin(bridge);
  const thereIsRoom = noRoomFor(bridge, 'submitted');
  assert.equal((await approve(bridge, [`drill-${id}`])).status, 202);
  await bridge.advance(5 * SECOND);
  assert.deepEqual([await stateOf(bridge, id), storedState(bridge, id)], ['scheduled', 'submitting']);
  thereIsRoom();
  await bridge.advance(3 * SECOND);
  assert.equal(await stateOf(bridge, id), 'started');
  assert.equal(posted(bridge), 0);
  const told = bridge.sink('audit').events.filter(({ data }) => data.eventId === `drill-${id}`);
  assert.deepEqual(
    told.map(({ type }) => type.split('.').at(-2)),
    ['scheduled', 'recorded', 'submitted', 'started'],
  );
});

test('a process that was killed while it was submitting: the next one starts the drill, and posts nothing of it', async (t) => {
  const { bridge } = await running(t, settings());
  const id = await begin(bridge);
  const thereIsRoom = noRoomFor(bridge, 'submitted');
  assert.equal((await approve(bridge, [`drill-${id}`])).status, 202);
  await bridge.kill();
  const [drill] = bridge.beside(`SELECT started_ms FROM drills WHERE id = '${id}'`);
  assert.deepEqual([storedState(bridge, id), drill?.['started_ms']], ['submitting', null]);
  thereIsRoom();
  bridge.logs.length = 0;
  await bridge.startFor(3 * SECOND);
  await concluded(bridge, id, 0);
});

test('a dry run: nothing starts it before its NotBefore', async (t) => {
  const bridge = new VirtualBridge(t, settings({ dryRun: true }));
  await bridge.startFor(2 * SECOND);
  const id = await begin(bridge, { notice: '20s' });
  await approve(bridge, [`drill-${id}`]);
  await bridge.advance(10 * SECOND);
  assert.equal(await stateOf(bridge, id), 'scheduled');
  await bridge.advance(12 * SECOND);
  await concluded(bridge, id, 0);
});
