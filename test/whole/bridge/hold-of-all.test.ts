// A hold of everything, restarts, reloads, drills → what each route shows, and no StartRequest.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { HOUR, MINUTE, SECOND, type Settings, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const ORDERS = { token: { env: 'ORDERS_TOKEN' }, admin: true };
const BILLING = { token: { env: 'BILLING_TOKEN' } };
const APPROVERS = { orders: ORDERS, billing: BILLING };
const BY_RULE: Settings = {
  approvals: { approvers: APPROVERS, policy: [{ when: {}, then: 'approve' }] },
};
const TOKENS = { orders: 'token-of-the-orders-service', billing: 'token-of-the-billing-service' };
const REASON = 'a release is under way';

async function running(t: TestContext, settings: Settings = BY_RULE): Promise<VirtualBridge> {
  const bridge = new VirtualBridge(t, settings);
  await bridge.startFor(2 * SECOND);
  return bridge;
}

/** The status, and the `type` of a problem. */
async function ask(
  bridge: VirtualBridge,
  method: string,
  path: string,
  { as, body, type = 'application/json' }: { as?: keyof typeof TOKENS; body?: unknown; type?: string } = {},
): Promise<readonly [number, string?]> {
  const headers = {
    ...(as && { authorization: `Bearer ${TOKENS[as]}` }),
    ...(body !== undefined && { 'content-type': type }),
  };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const init = { method, headers, ...(body !== undefined && { body: text }) };
  const answer = await bridge.during(fetch(`${bridge.bridge.url}${path}`, init));
  if (answer.status < 300) return [answer.status];
  return [answer.status, ((await answer.json()) as { type: string }).type];
}

function holdAll(bridge: VirtualBridge) {
  return ask(bridge, 'POST', '/v1/holds', { as: 'orders', body: { EventId: '*', reason: REASON } });
}

function releaseAll(bridge: VirtualBridge) {
  return ask(bridge, 'DELETE', '/v1/holds/*', { as: 'orders' });
}

/** Whatever reached the metadata service with a body. */
function posted(bridge: VirtualBridge): number {
  return bridge.simulation.simulator.group.journal.requests().filter(({ method }) => method === 'POST').length;
}

async function shown(bridge: VirtualBridge) {
  // Figures are read once a second.
  await bridge.advance(SECOND);
  const [ready, events, metrics] = [
    await bridge.request('GET', '/readyz'),
    await bridge.request('GET', '/v1/events'),
    await bridge.metrics(/^holds_all /),
  ];
  const { heldAll } = ready.body as { heldAll: unknown };
  assert.deepEqual((events.body as { heldAll: unknown }).heldAll, heldAll);
  return { heldAll: heldAll as { by: string; at: string; reason: string | null } | null, metrics };
}

test('over kill -9, a stop and a reload nothing is submitted, and everything that is due after the release', async (t) => {
  const bridge = await running(t);
  assert.deepEqual(await shown(bridge), { heldAll: null, metrics: ['holds_all 0'] });
  assert.deepEqual(await holdAll(bridge), [201]);
  const before = await shown(bridge);
  assert.partialDeepStrictEqual(before, { heldAll: { by: 'orders', reason: REASON }, metrics: ['holds_all 1'] });
  bridge.simulation.schedule({ EventType: 'Redeploy' });
  await bridge.advance(MINUTE);
  await bridge.kill();
  bridge.simulation.schedule({ EventType: 'Reboot' });
  await bridge.startFor(MINUTE);
  assert.equal(bridge.logged('a hold of everything stands').length, 1);
  await bridge.stop();
  await bridge.startFor(MINUTE);
  await bridge.reload({ approvals: { approvers: { orders: ORDERS }, policy: 'documentation' } });
  await bridge.reload(BY_RULE);
  await bridge.advance(MINUTE);
  assert.deepEqual(await shown(bridge), before);
  assert.equal(posted(bridge), 0);
  assert.deepEqual(await releaseAll(bridge), [204]);
  await bridge.advance(2 * SECOND);
  assert.equal(posted(bridge), 2);
  assert.deepEqual(await shown(bridge), { heldAll: null, metrics: ['holds_all 0'] });
  const acts = bridge.beside('SELECT operator, act, detail FROM operator_acts ORDER BY seq').map((row) => ({ ...row }));
  assert.deepEqual(acts, [
    { operator: 'orders', act: 'hold-all', detail: `{"reason":"${REASON}"}` },
    { operator: 'orders', act: 'release-all', detail: '{}' },
  ]);
});

test('it publishes no CloudEvents, and the record of an event has its steps', async (t) => {
  const bridge = await running(t, { approvals: { approvers: APPROVERS } });
  const { EventId } = bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  const received = () => bridge.sink('audit').arrivals.length;
  const count = received();
  await holdAll(bridge);
  await releaseAll(bridge);
  await bridge.advance(2 * SECOND);
  assert.equal(received(), count);
  const { body } = await bridge.request('GET', `/v1/approvals/${EventId}`, { as: 'billing' });
  assert.deepEqual(
    (body as { steps: { step: string; approver: string; via: string; reason: string }[] }).steps.map(
      ({ step, approver, via, reason }) => [step, approver, via, reason],
    ),
    [
      ['held', 'orders', 'all', REASON],
      ['released', 'orders', 'all', 'orders'],
    ],
  );
});

test('a drill is held too, and starts after the release', async (t) => {
  const bridge = await running(t);
  await holdAll(bridge);
  const begun = await bridge.request('POST', '/v1/drills', { as: 'orders', body: { notice: '10m', duration: '1h' } });
  const { id } = begun.body as { id: string };
  const state = async () =>
    ((await bridge.request('GET', `/v1/drills/${id}`, { as: 'orders' })).body as { state: string }).state;
  await bridge.advance(MINUTE);
  assert.equal(await state(), 'scheduled');
  await releaseAll(bridge);
  await bridge.advance(2 * SECOND);
  assert.equal(await state(), 'started');
  assert.equal(posted(bridge), 0);
});

test('who may not, and what cannot be read, changes nothing', async (t) => {
  const bridge = await running(t);
  const body = { EventId: '*', reason: REASON };
  assert.deepEqual(await ask(bridge, 'POST', '/v1/holds', { body }), [401, 'unauthorized']);
  assert.deepEqual(await ask(bridge, 'POST', '/v1/holds', { as: 'billing', body }), [403, 'not-admin']);
  assert.deepEqual(await ask(bridge, 'DELETE', '/v1/holds/*', { as: 'billing' }), [403, 'not-admin']);
  assert.deepEqual(await ask(bridge, 'DELETE', '/v1/holds/*'), [401, 'unauthorized']);
  assert.deepEqual(await releaseAll(bridge), [404, 'not-held']);
  const as = 'orders';
  assert.deepEqual(await ask(bridge, 'POST', '/v1/holds', { as, body, type: 'text/plain' }), [415, 'not-json']);
  const long = { EventId: '*', reason: 'x'.repeat(70_000) };
  assert.deepEqual(await ask(bridge, 'POST', '/v1/holds', { as, body: long }), [413, 'too-large']);
  const longer = { EventId: '*', reason: 'x'.repeat(1001) };
  assert.deepEqual(await ask(bridge, 'POST', '/v1/holds', { as, body: longer }), [400, 'bad-request']);
  const misspelled = { EventId: '*', Reason: 'x' };
  assert.deepEqual(await ask(bridge, 'POST', '/v1/holds', { as, body: misspelled }), [400, 'bad-request']);
  assert.deepEqual(await shown(bridge), { heldAll: null, metrics: ['holds_all 0'] });
  assert.deepEqual(await holdAll(bridge), [201]);
  const old = '/v1/holds/*?before=2000-01-01T00:00:00Z';
  assert.deepEqual(await ask(bridge, 'DELETE', old, { as }), [409, 'changed']);
  assert.deepEqual(await ask(bridge, 'DELETE', '/v1/holds/*?approver=billing', { as }), [404, 'not-held']);
  assert.deepEqual(await ask(bridge, 'DELETE', '/v1/holds/%2A?approver=orders', { as }), [204]);
});

test('the admin who set it may be one no more: it stands, and then only another admin releases it', async (t) => {
  const bridge = await running(t);
  await holdAll(bridge);
  const admins = { orders: { ...ORDERS, admin: false }, billing: { ...BILLING, admin: true } };
  await bridge.reload({ approvals: { ...BY_RULE.approvals, approvers: admins } });
  bridge.simulation.schedule();
  await bridge.advance(MINUTE);
  assert.deepEqual(await releaseAll(bridge), [403, 'not-admin']);
  assert.equal(posted(bridge), 0);
  assert.deepEqual(await ask(bridge, 'DELETE', '/v1/holds/*', { as: 'billing' }), [204]);
  await bridge.advance(2 * SECOND);
  assert.equal(posted(bridge), 1);
});

test('Azure starts an event at its NotBefore all the same, and nothing is posted in an hour', async (t) => {
  const bridge = await running(t);
  await holdAll(bridge);
  bridge.simulation.schedule();
  await bridge.advance(HOUR);
  assert.equal(posted(bridge), 0);
});
