// A restart beside a silent instance route → what is told at once, and what waits (behaviour 4.15).

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { MetadataTransport } from '../../../src/metadata/transport.ts';
import { begin, changesOf, reportOf, running } from '../../virtual/drill-fixture.ts';
import { EVENTS } from '../../virtual/simulation.ts';
import { simulatorAlone } from '../../virtual/simulator-alone.ts';
import { simulatorTransport } from '../../virtual/simulator-transport.ts';
import { MINUTE, SECOND, type Settings, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const APPROVALS = { approvers: { orders: { token: { env: 'ORDERS_TOKEN' } } } };

/** The service, but for what its instance route answers. */
function withInstance(service: MetadataTransport, instance: MetadataTransport): MetadataTransport {
  return (request, signal) =>
    request.url.includes('/metadata/instance') ? instance(request, signal) : service(request, signal);
}

/** Too many programs of the VM ask it. */
const busy: MetadataTransport = async () => ({ status: 429, headers: { 'retry-after': '2' }, body: new Uint8Array() });

function posts(bridge: VirtualBridge): readonly (number | null)[] {
  const requests = bridge.simulation.simulator.group.journal.requests().filter(({ method }) => method === 'POST');
  return requests.map(({ status }) => status);
}

/** A bridge that was stopped and knows two events, beside a service whose instance route is busy from now on. */
async function stopped(t: TestContext, settings: Settings = {}) {
  const bridge = new VirtualBridge(t, settings);
  const [first, second] = [bridge.simulation.schedule(), bridge.simulation.schedule({ EventType: 'Reboot' })];
  await bridge.startFor(5 * SECOND);
  await bridge.stop();
  const { service } = bridge;
  bridge.service = withInstance(service, busy);
  const control = (method: string, { EventId }: { EventId: string }, path = '', body?: object) =>
    bridge.simulation.order(method, `/events/${EventId}${path}`, body);
  const told = () => bridge.sink('audit').changes.slice(2);
  return { bridge, service, first, second, control, told, audit: bridge.sink('audit') };
}

test('after 5 s, scheduled, updated and started are published under the stored name; only ended waits, for 60 s', async (t) => {
  const { bridge, first, second, control, told, audit } = await stopped(t);
  control('PATCH', first, '', { Description: 'later' });
  control('POST', second, '/cancel');
  bridge.simulation.schedule();
  bridge.simulation.schedule({ EventStatus: 'Started' });
  await bridge.startFor(4900);
  assert.deepEqual(told(), []);
  await bridge.advance(200);
  assert.deepEqual(told(), ['updated', 'scheduled', 'started']);
  const [before, ...after] = audit.events;
  for (const { source, data } of after) assert.deepEqual([source, data.observer.name], [before?.source, 'sim_0']);
  await bridge.advance(54 * SECOND);
  assert.deepEqual(told(), ['updated', 'scheduled', 'started']);
  await bridge.advance(2 * SECOND);
  assert.deepEqual(told(), ['updated', 'scheduled', 'started', 'ended']);
  assert.equal(bridge.logged('did not answer for 5 s').length, 1);
});

test('what has ended follows as soon as the vmId is read, with the outcome that was seen', async (t) => {
  const { bridge, service, first, second, control, told, audit } = await stopped(t);
  await bridge.startFor(10 * SECOND);
  control('POST', second, '/cancel');
  await bridge.advance(3 * SECOND);
  control('PATCH', first, '', { Description: 'later' });
  await bridge.advance(10 * SECOND);
  assert.deepEqual(told(), ['updated']);
  const waiting = await bridge.request('GET', '/readyz');
  const [cause, effect, ...more] = (waiting.body as { reasons: readonly string[] }).reasons;
  assert.deepEqual([waiting.status, more], [503, []]);
  assert.match(cause ?? '', /^the metadata service at \S+ answered 429: /);
  assert.match(effect ?? '', /^the bridge does not know yet which VM this is: events are published, and none ends/);
  bridge.service = service;
  await bridge.advance(11 * SECOND);
  assert.deepEqual(told(), ['updated', 'ended']);
  assert.equal(audit.events.at(-1)?.outcome, 'canceled');
  assert.equal((await bridge.request('GET', '/readyz')).status, 200);
});

test('a route that answers within 5 s changes nothing, and one that does not exist is not waited for', async (t) => {
  for (const status of [200, 404]) {
    const { bridge, service, second, control, told } = await stopped(t);
    control('POST', second, '/cancel');
    bridge.service =
      status === 200 ? service : withInstance(service, async () => ({ status, headers: {}, body: new Uint8Array() }));
    await bridge.startFor(2 * SECOND);
    assert.deepEqual(told(), ['ended']);
    assert.deepEqual(bridge.logged('did not answer for 5 s'), []);
    await bridge.stop();
  }
});

for (const end of ['stop', 'kill'] as const)
  test(`a ${end} in that time: the next start waits again, publishes nothing twice, and ends what has ended`, async (t) => {
    const { bridge, service, second, control, told } = await stopped(t);
    control('POST', second, '/cancel');
    bridge.simulation.schedule();
    await bridge.startFor(20 * SECOND);
    await bridge[end]();
    await bridge.startFor(20 * SECOND);
    assert.deepEqual(told(), ['scheduled']);
    bridge.service = service;
    await bridge.advance(11 * SECOND);
    assert.deepEqual(told(), ['scheduled', 'ended']);
  });

test('approvers may approve and hold in that time, and what is decided is posted', async (t) => {
  const { bridge, first, told } = await stopped(t, { approvals: APPROVALS });
  const { EventId } = bridge.simulation.schedule({ EventType: 'Preempt' });
  await bridge.startFor(6 * SECOND);
  const hold = await bridge.request('POST', '/v1/holds', {
    as: 'orders',
    body: { EventId: first.EventId, reason: 'a backup' },
  });
  assert.equal(hold.status, 201);
  const yes = await bridge.request('POST', '/v1/approvals', { as: 'orders', body: { StartRequests: [{ EventId }] } });
  assert.deepEqual([yes.status, posts(bridge)], [200, [200]]);
  await bridge.advance(2 * SECOND);
  assert.deepEqual(told(), ['scheduled', 'approval.recorded', 'approval.submitted', 'started']);
});

test('a rule approves in that time, while 30 s of notice are not over', async (t) => {
  const policy = [{ when: { impacts: ['Preempt'] }, then: 'approve' }];
  const { bridge } = await stopped(t, { approvals: { ...APPROVALS, policy } });
  bridge.simulation.schedule({ EventType: 'Preempt' });
  await bridge.startFor(8 * SECOND);
  assert.deepEqual(posts(bridge), [200]);
});

test('an earlier drill continues, and another one begins, only after the VM is identified', async (t) => {
  const bridge = await running(t);
  const id = await begin(bridge, { notice: '20s', duration: '10s' });
  await bridge.advance(2 * SECOND);
  await bridge.stop();
  const { service } = bridge;
  bridge.service = withInstance(service, busy);
  await bridge.startFor(40 * SECOND);
  const body = { resources: ['sim_0'] };
  assert.equal((await bridge.request('POST', '/v1/drills', { as: 'orders', body })).status, 503);
  assert.deepEqual(bridge.sink('audit').changes, ['scheduled']);
  bridge.service = service;
  await bridge.advance(30 * SECOND);
  assert.deepEqual(changesOf(await reportOf(bridge, id)), ['scheduled', 'started', 'ended']);
});

test('sources of approvals wait until the VM is identified, because their consumer group may contain its name', async (t) => {
  const approvals = { approvers: { ops: { admin: true } }, sources: { topic: { type: 'memory', approver: 'ops' } } };
  const { bridge, service } = await stopped(t, { approvals });
  const before = bridge.source('topic').observerIds.length;
  await bridge.startFor(30 * SECOND);
  assert.equal(bridge.source('topic').observerIds.length, before);
  bridge.service = service;
  await bridge.advance(11 * SECOND);
  assert.deepEqual(bridge.source('topic').observerIds.slice(before), ['sim_0']);
});

test('a bridge that was blind publishes that it sees again', async (t) => {
  const { bridge, service, told } = await stopped(t);
  bridge.service = async () => {
    throw new Error('away');
  };
  await bridge.startFor(3 * MINUTE);
  await bridge.stop();
  bridge.service = withInstance(service, busy);
  await bridge.startFor(6 * SECOND);
  assert.deepEqual(told(), ['source.blind', 'source.restored']);
});

/** The store of sim_0 in another VM, `copy_0`, whose instance route is busy. */
async function copied(t: TestContext, settings: Settings = {}) {
  const { bridge, told, audit } = await stopped(t, settings);
  const other = simulatorAlone({ deps: bridge.time, vmName: 'copy_0' });
  const service = simulatorTransport(other, bridge.time);
  const answer = other.handle({ method: 'POST', url: '/simulator/events', headers: {}, body: new Uint8Array() });
  const { EventId } = JSON.parse(new TextDecoder().decode(answer.body)) as { EventId: string };
  bridge.service = withInstance(service, busy);
  const statuses = () =>
    other.group.journal.requests().flatMap(({ method, status }) => (method === 'POST' ? [status] : []));
  return { bridge, other, service, EventId, told, audit, statuses };
}

test('a store that turns out to be another VM’s is set aside: what was published meanwhile stays published, and the log names it', async (t) => {
  const { bridge, service, EventId, told, audit } = await copied(t);
  await bridge.startFor(10 * SECOND);
  assert.deepEqual(told(), ['scheduled']);
  bridge.service = service;
  await bridge.advance(11 * SECOND);
  assert.deepEqual(told(), ['scheduled', 'scheduled'], 'nothing of the other VM has ended');
  assert.deepEqual(
    audit.events.slice(2).map(({ data }) => [data.eventId, data.observer.name]),
    [
      [EventId, 'sim_0'],
      [EventId, 'copy_0'],
    ],
  );
  const [line] = bridge.logged('cannot be taken back') as readonly { count?: number; ids?: readonly string[] }[];
  assert.deepEqual([line?.count, line?.ids], [1, [`${EventId.toLowerCase()}:scheduled`]]);
  await bridge.advance(MINUTE);
  assert.deepEqual(told(), ['scheduled', 'scheduled']);
  assert.equal((await bridge.request('GET', '/readyz')).status, 200);
});

test('an approval that was posted before the store was set aside is remembered: the event is not taken for canceled', async (t) => {
  const { bridge, other, service, EventId, told, audit, statuses } = await copied(t, { approvals: APPROVALS });
  await bridge.startFor(6 * SECOND);
  // The document goes on showing it as Scheduled, as in the seconds after a StartRequest.
  const before = await service(
    { method: 'GET', url: `http://169.254.169.254${EVENTS}`, headers: { Metadata: 'true' }, timeoutMs: 1000 },
    new AbortController().signal,
  );
  const frozen: MetadataTransport = async (request, signal) =>
    request.method === 'GET' && request.url.includes('/scheduledevents') ? before : service(request, signal);
  bridge.service = withInstance(frozen, busy);
  await bridge.request('POST', '/v1/approvals', { as: 'orders', body: { StartRequests: [{ EventId }] } });
  assert.deepEqual(statuses(), [200]);
  bridge.service = frozen;
  await bridge.advance(11 * SECOND);
  other.handle({ method: 'POST', url: `/simulator/events/${EventId}/end`, headers: {}, body: new Uint8Array() });
  bridge.service = service;
  await bridge.advance(3 * SECOND);
  assert.deepEqual(told().slice(-2), ['scheduled', 'ended']);
  assert.equal(audit.events.at(-1)?.outcome, 'unknown');
});
