// Messages of approval sources, over kills, full disks, outages → StartRequests and CloudEvents.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { sourceAway } from '../../virtual/memory-source.ts';
import { MINUTE, SECOND, type Settings, VirtualBridge } from '../../virtual/virtual-bridge.ts';

const TOPIC = { type: 'memory', approver: 'ops' };
const APPROVALS = { approvers: { ops: { admin: true } }, sources: { topic: TOPIC } };

function bridgeWith(t: TestContext, approvals: object = APPROVALS, more: Settings = {}): VirtualBridge {
  return new VirtualBridge(t, { ...more, approvals });
}

/** What was posted to the metadata service, and what it said. */
function posts(bridge: VirtualBridge): (number | null)[] {
  return bridge.simulation.simulator.group.journal
    .requests()
    .filter(({ method }) => method === 'POST')
    .map(({ status }) => status);
}

function serviceFails(bridge: VirtualBridge, order: object = { status: 503, times: 1_000_000 }): void {
  bridge.simulation.send('PUT', '/simulator/faults', { body: order });
}

/** The value of a metric's series, prefix cut. */
async function metric(bridge: VirtualBridge, series: string): Promise<number> {
  const answer = fetch(`${bridge.bridge.url}/metrics`).then((response) => response.text());
  const line = (await bridge.during(answer))
    .split('\n')
    .find((each) => each.startsWith(`scheduled_events_bridge_${series} `));
  return Number(line?.split(' ').at(-1));
}

test('an approver without a token approves through its source, and the event starts', async (t) => {
  const bridge = bridgeWith(t);
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  const broker = bridge.source('topic');
  broker.approve(EventId.toLowerCase());
  await bridge.advance(3 * SECOND);
  assert.deepEqual(broker.verdicts, ['settle']);
  assert.deepEqual(posts(bridge), [200]);
  const { changes, events } = bridge.sink('audit');
  assert.deepEqual(changes, ['scheduled', 'approval.recorded', 'approval.submitted', 'started']);
  assert.deepEqual(events.at(-1)?.data.observer.approval?.approvedBy, ['ops']);
  assert.deepEqual(broker.observerIds, [bridge.simulation.name.toLowerCase()]);
  assert.equal((await bridge.request('POST', '/v1/approvals', { body: {} })).status, 401, 'an approver is listed');
});

test('a sink that writes to the topic of a source does not go round in circles, in any mode, and a bad approval is answered once', async (t) => {
  const bridge = bridgeWith(t);
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  const broker = bridge.source('topic');
  const sink = bridge.sink('audit');
  let written = 0;
  const writeBack = async () => {
    for (; written < sink.events.length; written++) {
      broker.send(sink.events[written] ?? assert.fail());
      broker.send(sink.events[written]?.data ?? assert.fail());
    }
    await bridge.advance(2 * SECOND);
  };
  await writeBack();
  broker.send({ approve: [{ eventId: EventId.toLowerCase() }] });
  await bridge.advance(SECOND);
  broker.approve(EventId);
  for (let round = 0; round < 5; round++) await writeBack();
  assert.deepEqual(sink.changes, [
    'scheduled',
    'approval.failed',
    'approval.recorded',
    'approval.submitted',
    'started',
  ]);
  assert.equal(sink.events[1]?.data.reason, 'bad-request');
  assert.deepEqual(posts(bridge), [200]);
  assert.equal(written, 5, 'all of it was written to the topic');
});

test('killed after the store and before the broker knew: the message comes again, and nothing happens twice', async (t) => {
  const bridge = bridgeWith(t);
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  const broker = bridge.source('topic');
  broker.settles = false;
  broker.approve(EventId);
  broker.approve('Nobody');
  await bridge.advance(0);
  await bridge.kill();
  broker.settles = true;
  await bridge.startFor(2 * MINUTE);
  assert.deepEqual(
    [broker.verdicts, broker.deliveries],
    [
      ['settle', 'settle'],
      [2, 2],
    ],
  );
  assert.deepEqual(posts(bridge), [200]);
  const told = bridge.sink('audit').changes.filter((change) => change.startsWith('approval'));
  assert.deepEqual(told.sort(), ['approval.failed', 'approval.recorded', 'approval.submitted']);
});

test('killed after the store and before the broker knew, and the event got worse: the message does not approve it again', async (t) => {
  const approvals = {
    ...APPROVALS,
    approvers: { ops: {}, orders: { token: { env: 'ORDERS_TOKEN' } } },
    required: 'all',
  };
  const bridge = bridgeWith(t, approvals);
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  const broker = bridge.source('topic');
  broker.settles = false;
  broker.approve(EventId);
  await bridge.advance(0);
  await bridge.kill();
  bridge.simulation.order('PATCH', `/events/${EventId}`, { EventType: 'Redeploy' });
  broker.settles = true;
  await bridge.startFor(5 * SECOND);
  assert.deepEqual(broker.verdicts, ['settle']);
  assert.deepEqual(bridge.sink('audit').changes.slice(1).sort(), ['approval.failed', 'approval.recorded', 'updated']);
  await bridge.request('POST', '/v1/approvals', { as: 'orders', body: { StartRequests: [{ EventId }] } });
  assert.deepEqual(posts(bridge), []);
});

/** Who may approve whatever the sources say. */
const NAMED = { ops: { token: { env: 'ORDERS_TOKEN' } }, orders: { token: { env: 'BILLING_TOKEN' } } };
const WITHDRAWN: Readonly<Record<string, object>> = {
  'the source is gone': { approvers: NAMED, sources: {} },
  'it names another approver': { approvers: NAMED, sources: { topic: { ...TOPIC, approver: 'orders' } } },
};

for (const [what, after] of Object.entries(WITHDRAWN)) {
  for (const isRestart of [false, true]) {
    const by = isRestart ? 'restart' : 'reload';
    test(`a message that is kept for its event no longer counts if by a ${by} ${what}: approval.failed reports it`, async (t) => {
      const bridge = bridgeWith(t, { approvers: NAMED, sources: { topic: TOPIC } });
      await bridge.startFor(2 * SECOND);
      bridge.source('topic').approve('Later');
      await bridge.advance(SECOND);
      if (isRestart) await bridge.kill();
      if (isRestart) await bridge.startFor(2 * SECOND, { approvals: after });
      else assert.equal((await bridge.reload({ approvals: after })).kind, 'applied');
      bridge.simulation.schedule({ EventId: 'Later' });
      await bridge.advance(3 * SECOND);
      assert.deepEqual(posts(bridge), []);
      const failed = bridge.sink('audit').events.filter(({ type }) => type.endsWith('approval.failed.v1'));
      assert.deepEqual(
        failed.map(({ data }) => [data.eventId, data.approver, data.reason]),
        [['Later', 'ops', 'forbidden']],
      );
      assert.deepEqual(bridge.beside('SELECT id FROM parked_messages'), []);
    });
  }
}

test('a message that is under way when its source gets another approver comes again, and counts for that one', async (t) => {
  const queue = { ...TOPIC, readers: 'one', giveBack: true };
  const bridge = bridgeWith(t, { approvers: NAMED, sources: { topic: queue } });
  await bridge.startFor(2 * SECOND);
  bridge.source('topic').approve('Later');
  await bridge.advance(100);
  bridge.simulation.schedule({ EventId: 'Later' });
  const approvals = { approvers: NAMED, sources: { topic: { ...queue, approver: 'orders' } } };
  const reloaded = bridge.reload({ approvals });
  await bridge.advance(10 * SECOND);
  assert.equal((await reloaded).kind, 'applied');
  assert.deepEqual(bridge.source('topic').verdicts, ['settle']);
  const recorded = bridge.sink('audit').events.filter(({ type }) => type.endsWith('approval.recorded.v1'));
  assert.deepEqual(
    recorded.map(({ data }) => data.approver),
    ['orders'],
  );
});

test('a message for an event that comes later is kept over a kill', async (t) => {
  const bridge = bridgeWith(t);
  await bridge.startFor(2 * SECOND);
  bridge.source('topic').approve('later', 'LATER');
  bridge.source('topic').approve('never');
  await bridge.advance(0);
  await bridge.kill();
  await bridge.advance(20 * SECOND);
  bridge.simulation.schedule({ EventId: 'Later' });
  await bridge.startFor(3 * SECOND);
  assert.deepEqual(posts(bridge), [200]);
  assert.deepEqual(bridge.source('topic').deliveries, [1, 1]);
  await bridge.advance(MINUTE);
  const failed = bridge.sink('audit').events.filter(({ type }) => type.endsWith('approval.failed.v1'));
  assert.deepEqual(
    failed.map(({ data }) => [data.eventId, data.reason, data.approver]),
    [['never', 'unknown', 'ops']],
  );
  assert.deepEqual(bridge.beside('SELECT id FROM parked_messages'), []);
});

test('a refusal of an unknown event reaches the sinks that ask nothing of events', async (t) => {
  const sinks = {
    audit: { type: 'memory' },
    failures: { type: 'memory', filter: { changes: ['approval.failed'] } },
    reboots: { type: 'memory', filter: { impacts: ['Reboot'] } },
    far: { type: 'memory', filter: { notice: { above: '0s' } } },
  };
  const bridge = bridgeWith(t, APPROVALS, { sinks });
  await bridge.startFor(2 * SECOND);
  bridge.source('topic').approve('Nobody');
  await bridge.advance(62 * SECOND);
  assert.deepEqual(
    Object.keys(sinks).map((name) => bridge.sink(name).changes),
    [['approval.failed'], ['approval.failed'], [], []],
  );
  const [event] = bridge.sink('audit').events as unknown as Record<string, unknown>[];
  assert.deepEqual(
    [event?.['subject'], event?.['impact'], event?.['initiator']],
    ['scheduledevents/nobody', undefined, undefined],
  );
});

test('with publish.resources own, an event that is not listed is not published', async (t) => {
  const bridge = bridgeWith(t, APPROVALS, { publish: { resources: 'own' } });
  await bridge.startFor(2 * SECOND);
  bridge.source('topic').approve('Nobody');
  await bridge.advance(62 * SECOND);
  assert.deepEqual(bridge.sink('audit').changes, []);
  assert.equal(bridge.logged('an approval was refused').length, 1);
});

test('a topic is read before there is a document, and its messages wait; a queue is left to the others until then', async (t) => {
  const sources = { topic: TOPIC, queue: { type: 'memory', approver: 'ops', readers: 'one', giveBack: true } };
  const bridge = bridgeWith(t, { ...APPROVALS, sources }, { cloudevents: { source: '/somewhere' } });
  const { EventId } = bridge.simulation.schedule();
  serviceFails(bridge);
  await bridge.startFor(10 * SECOND);
  bridge.source('topic').approve(EventId);
  bridge.source('queue').approve(EventId);
  await bridge.advance(3 * MINUTE);
  assert.deepEqual([bridge.source('topic').verdicts, bridge.source('queue').receives], [['settle'], []]);
  serviceFails(bridge, {});
  await bridge.advance(20 * SECOND);
  assert.deepEqual(bridge.source('queue').verdicts, ['settle']);
  assert.deepEqual(posts(bridge), [200]);
});

test('messages about unknown events go back to the queue until the bridge knows the event', async (t) => {
  const bridge = bridgeWith(t, {
    ...APPROVALS,
    sources: { queue: { type: 'memory', approver: 'ops', readers: 'one', giveBack: true } },
  });
  await bridge.startFor(2 * SECOND);
  const broker = bridge.source('queue');
  broker.approve('Later');
  await bridge.advance(20 * SECOND);
  const [deliveries = 0] = broker.deliveries;
  assert.ok(deliveries >= 4 && deliveries <= 20, `${deliveries} deliveries`);
  bridge.simulation.schedule({ EventId: 'Later' });
  await bridge.advance(7 * SECOND);
  assert.deepEqual(broker.verdicts, ['settle']);
  assert.deepEqual(posts(bridge), [200]);
});

test('with readers one and a broker that cannot take messages back, messages about unknown events are kept', async (t) => {
  const bridge = bridgeWith(t, { ...APPROVALS, sources: { topic: { ...TOPIC, readers: 'one' } } });
  await bridge.startFor(2 * SECOND);
  bridge.source('topic').approve('Later');
  await bridge.advance(0);
  assert.deepEqual(bridge.source('topic').verdicts, ['settle']);
});

test('a source that is unreachable is retried at least every 10 s, and logged once, and once when it is back', async (t) => {
  const bridge = bridgeWith(t);
  const broker = bridge.source('topic');
  broker.fault = sourceAway();
  await bridge.startFor(5 * MINUTE);
  const pauses = broker.receives.slice(1).map((atMs, index) => atMs - (broker.receives[index] ?? 0));
  assert.ok(Math.max(...pauses) <= 10_000, pauses.join(' '));
  assert.ok(pauses.length > 30 && Math.max(...pauses.slice(0, 2)) <= 500, pauses.join(' '));
  assert.equal(bridge.logged('cannot receive approvals').filter(({ level }) => level === 40).length, 1);
  assert.equal(bridge.logged('cannot receive approvals')[0]?.['source'], 'topic');
  assert.equal((await bridge.request('GET', '/readyz')).status, 200, 'a source does not enter readiness');
  assert.equal(await metric(bridge, 'approval_source_up{source="topic"}'), 0);

  broker.fault = null;
  await bridge.advance(10 * SECOND);
  assert.equal(bridge.logged('receives approvals again').length, 1);
  assert.equal(await metric(bridge, 'approval_source_up{source="topic"}'), 1);
  const { EventId } = bridge.simulation.schedule();
  await bridge.advance(2 * SECOND);
  broker.approve(EventId);
  await bridge.advance(SECOND);
  assert.deepEqual(posts(bridge), [200]);
  assert.equal(await metric(bridge, 'approval_messages_total{source="topic",result="settled"}'), 1);

  broker.fault = sourceAway();
  broker.wake();
  await bridge.advance(MINUTE);
  assert.equal(bridge.logged('cannot receive approvals').filter(({ level }) => level === 40).length, 2);
});

test('a source that is away disturbs no other one', async (t) => {
  const bridge = bridgeWith(t, { ...APPROVALS, sources: { topic: TOPIC, other: TOPIC } });
  bridge.source('other').fault = sourceAway();
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  bridge.source('topic').approve(EventId);
  await bridge.advance(SECOND);
  assert.deepEqual(posts(bridge), [200]);
});

test('two sources and an endpoint: three approvers together start the event, once', async (t) => {
  const approvers = { ops: {}, billing: {}, orders: { token: { env: 'ORDERS_TOKEN' } } };
  const bridge = bridgeWith(t, {
    approvers,
    required: 'all',
    sources: { topic: TOPIC, other: { type: 'memory', approver: 'billing' } },
  });
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  bridge.source('topic').approve(EventId);
  bridge.source('other').approve(EventId);
  const reply = await bridge.request('POST', '/v1/approvals', { as: 'orders', body: { StartRequests: [{ EventId }] } });
  assert.equal(reply.status, 200);
  assert.deepEqual(posts(bridge), [200]);
});

test('on a full disk a message is not settled; it comes again and is recorded when there is room, and the source is not to blame', async (t) => {
  const bridge = bridgeWith(t);
  bridge.maxPages = 200;
  const ids = Array.from({ length: 100 }, () => bridge.simulation.schedule().EventId);
  await bridge.startFor(2 * SECOND);
  bridge.fillDisk();
  bridge.source('topic').approve(...ids);
  await bridge.advance(30 * SECOND);
  assert.deepEqual(bridge.source('topic').verdicts, [null]);
  assert.deepEqual(posts(bridge), []);
  assert.equal(bridge.logged('cannot receive approvals').filter(({ level }) => level > 20).length, 0);
  assert.deepEqual(
    [bridge.logged('nothing can be stored').length, bridge.logged('can be stored again').length],
    [1, 0],
  );
  const tries = bridge.source('topic').receives.length;
  assert.ok(tries > 3 && tries < 60, `${tries} tries`);
  bridge.freeDisk();
  await bridge.advance(30 * SECOND);
  assert.deepEqual(bridge.source('topic').verdicts, ['settle']);
  assert.equal(bridge.sink('audit').changes.filter((change) => change === 'approval.submitted').length, 100);
  assert.deepEqual(
    [bridge.logged('nothing can be stored').length, bridge.logged('can be stored again').length],
    [1, 1],
  );
});

test('a bridge that stops accepts no more messages, and leaves them to its next start', async (t) => {
  const bridge = bridgeWith(t);
  const { EventId } = bridge.simulation.schedule();
  await bridge.startFor(2 * SECOND);
  const broker = bridge.source('topic');
  const stopped = bridge.stop();
  broker.approve(EventId);
  await stopped;
  assert.deepEqual([broker.verdicts, broker.open], [[null], 0]);
  await bridge.startFor(3 * SECOND);
  assert.deepEqual(broker.verdicts, ['settle']);
  assert.deepEqual(posts(bridge), [200]);
});

test('options that cannot work together end the start before anything is opened', async (t) => {
  const bridge = bridgeWith(t, { ...APPROVALS, sources: { topic: { ...TOPIC, broken: true } } });
  await assert.rejects(bridge.start(), { code: 'BRIDGE_CONFIG_INVALID' });
});
