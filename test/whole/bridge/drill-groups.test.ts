// Drills in a group of five bridges → each its own; what others are told of them changes nothing.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { DrillReport } from '../../../src/drills/report.ts';
import type { Settings } from '../../virtual/virtual-bridge.ts';
import { VirtualGroup } from '../../virtual/virtual-group.ts';

const CHANGES = ['scheduled', 'started', 'ended', 'approval.recorded', 'approval.submitted', 'approval.failed'];

function settings(group: object): Settings {
  const approvers = { orders: { token: { env: 'ORDERS_TOKEN' }, admin: true }, ops: {} };
  const sources = { topic: { type: 'memory', approver: 'ops' } };
  return {
    approvals: { approvers, sources, group },
    sinks: { audit: { type: 'memory', filter: { changes: CHANGES } } },
  };
}

const LEADER = { submit: 'leader', failoverAfter: '10s' };

async function groupOf(t: TestContext, group: object = LEADER): Promise<VirtualGroup> {
  const made = new VirtualGroup(t, settings(group));
  await made.start();
  return made;
}

async function begin(group: VirtualGroup, index: number): Promise<string> {
  const body = { force: true, notice: '10m', duration: '1h' };
  const answer = await group.machine(index).bridge.request('POST', '/v1/drills', { as: 'orders', body });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return (answer.body as { eventId: string }).eventId;
}

async function stateOf(group: VirtualGroup, index: number, eventId: string): Promise<string | undefined> {
  const path = `/v1/drills/${eventId.slice('drill-'.length)}`;
  const { body } = await group.machine(index).bridge.request('GET', path, { as: 'orders' });
  return (body as Partial<DrillReport>).state;
}

function starts(...eventIds: readonly string[]): object {
  return { StartRequests: eventIds.map((EventId) => ({ EventId })) };
}

/** What the sink of one machine was told of this event. */
function told(group: VirtualGroup, index: number, eventId: string): readonly string[] {
  const { events } = group.machine(index).bridge.sink('audit');
  return events.flatMap(({ data, type }) =>
    data.eventId === eventId ? [type.replace(/^.*?((approval\.)?[a-z]+)\.v1$/, '$1')] : [],
  );
}

for (const submit of ['leader', 'every'] as const) {
  test(`submit: ${submit}: an approval on a topic that all read starts the drill of one bridge; the others skip it`, async (t) => {
    const group = await groupOf(t, { submit, ...(submit === 'leader' && { failoverAfter: '10s' }) });
    const drill = await begin(group, 3);
    group.tell(starts(drill));
    await group.advance(90);
    assert.equal(await stateOf(group, 3, drill), 'started');
    assert.deepEqual(told(group, 3, drill), ['scheduled', 'approval.recorded', 'approval.submitted', 'started']);
    for (const index of [0, 1, 2, 4]) {
      assert.deepEqual(told(group, index, drill), []);
      assert.deepEqual(group.machine(index).bridge.source('topic').verdicts, ['settle']);
      assert.equal(await stateOf(group, index, drill), undefined);
      assert.deepEqual(group.machine(index).bridge.beside('SELECT * FROM parked_messages'), []);
    }
    assert.deepEqual(group.posts(), []);
  });
}

test('one message names a drill of one bridge and a real event: each bridge counts the yes for that, and the leader posts it', async (t) => {
  const group = await groupOf(t);
  const real = group.schedule();
  await group.advance(2);
  const drill = await begin(group, 3);
  group.tell(starts(drill, real));
  await group.advance(5);
  assert.equal(group.posts().length, 1);
  assert.equal(group.posts()[0]?.[0], 'sim_0');
  assert.equal(await stateOf(group, 3, drill), 'started');
  for (const index of [0, 1, 2, 3, 4]) assert.ok(told(group, index, real).includes('approval.recorded'), `${index}`);
});

test('the leader is down: the next rank posts the real event in its turn, and a drill waits for no turn', async (t) => {
  const group = await groupOf(t);
  const real = group.schedule();
  await group.advance(2);
  const drills = [await begin(group, 1), await begin(group, 2)] as const;
  await group.machine(0).bridge.kill();
  for (const index of [1, 2, 3, 4]) group.machine(index).hears(starts(...drills, real));
  await group.advance(2);
  assert.deepEqual([await stateOf(group, 1, drills[0]), await stateOf(group, 2, drills[1])], ['started', 'started']);
  assert.deepEqual(group.posts(), []);
  await group.machine(1).bridge.kill();
  await group.machine(1).bridge.start();
  await group.advance(60);
  assert.deepEqual(
    group.posts().map(([vm, , status]) => [vm, status]),
    [['sim_1', 200]],
  );
  assert.deepEqual([await stateOf(group, 1, drills[0]), await stateOf(group, 2, drills[1])], ['started', 'started']);
});

test("by HTTP another bridge's drill is unknown, and a hold of it on the topic is that bridge's alone", async (t) => {
  const group = await groupOf(t);
  const drill = await begin(group, 3);
  const answer = await group.machine(0).bridge.request('POST', '/v1/approvals', { as: 'orders', body: starts(drill) });
  assert.deepEqual([answer.status, (answer.body as { type: string }).type], [404, 'unknown']);
  group.tell({ Holds: [{ EventId: drill, reason: 'busy' }] });
  await group.advance(2);
  group.tell(starts(drill));
  await group.advance(5);
  assert.equal(await stateOf(group, 3, drill), 'scheduled');
  group.tell({ Releases: [{ EventId: drill }] });
  await group.advance(5);
  assert.equal(await stateOf(group, 3, drill), 'started');
  assert.deepEqual(group.machine(0).bridge.source('topic').verdicts, ['settle', 'settle', 'settle']);
});
