// Events over their lives → the `cloudEventId` of each in GET /v1/events.
import assert from 'node:assert/strict';
import test from 'node:test';
import { approve, begin, running } from '../../virtual/drill-fixture.ts';
import { SECOND, type VirtualBridge } from '../../virtual/virtual-bridge.ts';

interface Listed {
  readonly eventId: string;
  readonly eventStatus: string;
  readonly cloudEventId: string | null;
}

async function listed(bridge: VirtualBridge): Promise<readonly Listed[]> {
  return ((await bridge.request('GET', '/v1/events')).body as { events: readonly Listed[] }).events;
}

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
