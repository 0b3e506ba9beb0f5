// Events over their lives → `cloudEventId` and `nextStep` in GET /v1/events, and lines of the log.
import assert from 'node:assert/strict';
import test from 'node:test';
import { approve, begin, running, settings } from '../../virtual/drill-fixture.ts';
import { SECOND, type VirtualBridge } from '../../virtual/virtual-bridge.ts';

interface Listed {
  readonly eventId: string;
  readonly eventStatus: string;
  readonly cloudEventId: string | null;
  readonly notBefore: string | null;
  readonly nextStep: object;
  readonly rule: object | null;
}

async function listed(bridge: VirtualBridge): Promise<readonly Listed[]> {
  return ((await bridge.request('GET', '/v1/events')).body as { events: readonly Listed[] }).events;
}

/** A rule without windows and budgets. */
const AT_ANY_TIME = { window: null, during: [], budgets: [] };

/** The ids of the CloudEvents of these changes, the newest last. */
function told(bridge: VirtualBridge, ...changes: readonly string[]): readonly string[] {
  return bridge
    .sink('audit')
    .events.filter(({ type }) => changes.some((change) => type.endsWith(`.${change}.v1`)))
    .map(({ id }) => id);
}

test('cloudEventId is the newest scheduled or updated of the occurrence: an approval that answers it is accepted', async (t) => {
  const bridge = await running(t);
  const schedule = (body: object) => bridge.simulation.send('POST', '/simulator/events', { body });
  schedule({ EventType: 'Reboot', DurationInSeconds: 60 });
  await bridge.advance(2 * SECOND);
  const [event] = await listed(bridge);
  assert.deepEqual([event?.cloudEventId], told(bridge, 'scheduled'));
  bridge.simulation.send('PATCH', `/simulator/events/${event?.eventId}`, { body: { DurationInSeconds: 90 } });
  await bridge.advance(2 * SECOND);
  const [updated] = await listed(bridge);
  assert.deepEqual([updated?.cloudEventId], told(bridge, 'updated'));
  const asked = (Seen: unknown) =>
    bridge.request('POST', '/v1/approvals', {
      as: 'orders',
      body: { StartRequests: [{ EventId: event?.eventId, Seen }] },
    });
  assert.equal((await asked(event?.cloudEventId)).status, 409);
  assert.equal((await asked(updated?.cloudEventId)).status, 200);
  await bridge.advance(2 * SECOND);
  const [started] = await listed(bridge);
  assert.deepEqual([started?.eventStatus, started?.cloudEventId], ['Started', updated?.cloudEventId]);
  await bridge.kill();
  await bridge.start();
  await bridge.advance(10 * SECOND);
  assert.equal((await listed(bridge))[0]?.cloudEventId, updated?.cloudEventId, 'also after a restart');
});

test('cloudEventId is null without a scheduled or updated, and a drill has one', async (t) => {
  const bridge = await running(t);
  bridge.simulation.send('POST', '/simulator/events', { body: { EventType: 'Reboot', EventStatus: 'Started' } });
  await bridge.advance(2 * SECOND);
  const [event] = await listed(bridge);
  assert.deepEqual([event?.eventStatus, event?.cloudEventId], ['Started', null]);
  const id = await begin(bridge, { force: true, notice: '2m' });
  assert.equal((await listed(bridge))[1]?.cloudEventId, `drill-${id}:scheduled`);
  assert.equal((await approve(bridge, id)).status, 200);
});

test('an event shows what happens if nobody acts, and the log says it in words when the event comes (6.12)', async (t) => {
  const bridge = await running(t, settings({ policy: [{ when: { impacts: ['Reboot'] }, then: 'never' }] }));
  bridge.simulation.send('POST', '/simulator/events', { body: { EventType: 'Reboot' } });
  bridge.simulation.send('POST', '/simulator/events', { body: { EventType: 'Freeze' } });
  await bridge.advance(2 * SECOND);
  const [reboot, freeze] = await listed(bridge);
  assert.deepEqual(reboot?.nextStep, { action: 'start', at: reboot?.notBefore, by: null });
  assert.deepEqual(reboot?.rule, { policy: 'policy[0]', then: 'never', waitingFor: [], ...AT_ANY_TIME });
  assert.deepEqual(freeze?.rule, { policy: null, then: 'wait', waitingFor: ['orders', 'billing'], ...AT_ANY_TIME });
  const lines = bridge
    .logged('change stored')
    .map(({ eventType, notBefore, next }) => ({ eventType, notBefore, next }));
  const next = `never approved by this bridge (policy[0]); left to Azure, which starts it at ${reboot?.notBefore}`;
  assert.deepEqual(lines[0], { eventType: 'Reboot', notBefore: reboot?.notBefore, next });
});

test('a drill shows what happens next as an event does; its start is the NotBefore of the drill (6.12)', async (t) => {
  const deadline = { before: '1m', then: 'approve' };
  const bridge = await running(t, settings({ policy: [{ when: { impacts: ['Reboot'] }, then: 'wait', deadline }] }));
  const left = await begin(bridge, { eventType: 'Freeze', notice: '5m' });
  const approved = await begin(bridge, { eventType: 'Reboot', notice: '5m' });
  const [first, second] = await listed(bridge);
  assert.deepEqual([first?.eventId, second?.eventId], [`drill-${left}`, `drill-${approved}`]);
  assert.deepEqual(first?.nextStep, { action: 'start', at: first?.notBefore, by: null });
  const at = new Date(Date.parse(second?.notBefore ?? '') - 60 * SECOND).toISOString();
  assert.deepEqual(second?.nextStep, { action: 'approve', at, by: 'policy[0]' });
  const lines = bridge.logged('change stored').map(({ next }) => next);
  assert.equal(lines[0], `waits for: orders, billing; if nobody acts: the drill starts at ${first?.notBefore}`);
  await bridge.advance(240 * SECOND);
  const [, started] = await listed(bridge);
  assert.deepEqual([started?.eventStatus, started?.nextStep], ['Started', { action: null, at: null, by: null }]);
});
