// Which machine of a group sees and approves what; rows of docs/simulate/fidelity.md.
import assert from 'node:assert/strict';
import test from 'node:test';
import { shippedScenarios } from '../../src/simulator/shipped-scenarios.ts';
import { scriptOf, simulatedGroup } from '../virtual/simulated-group.ts';
import { jsonOf, type SimulatedMachine } from '../virtual/simulation.ts';

const THREE = ['web_0', 'web_1', 'web_2'];

function trio(options: { gpu?: boolean } = {}) {
  const { machines } = simulatedGroup({ vms: THREE, ...options });
  return machines as [SimulatedMachine, SimulatedMachine, SimulatedMachine];
}

test('every machine of a group reads the same document, including events that name only others (F-55)', () => {
  const [a, b, c] = trio();
  a.schedule({ Resources: ['web_1'] });
  const expected = a.document();
  assert.deepEqual([expected.DocumentIncarnation, expected.Events.map(({ Resources }) => Resources)], [2, [['web_1']]]);
  assert.deepEqual([b.document(), c.document()], [expected, expected]);
});

test('two groups are independent of each other (F-55)', () => {
  const [a] = trio();
  const other = simulatedGroup().first;
  a.schedule();
  assert.deepEqual(other.document(), { DocumentIncarnation: 1, Events: [] });
});

test('an event that one machine approves starts once, for all its Resources, and all machines see it (F-56)', () => {
  const [a, b, c] = trio();
  const { EventId, Resources } = a.schedule();
  assert.deepEqual(Resources, THREE);
  assert.equal(b.approve(EventId).status, 200);
  for (const machine of [a, b, c]) assert.deepEqual(machine.statuses(), [[EventId, 'Started']]);
  const before = a.document();
  assert.deepEqual(
    [a, b, c].map((machine) => machine.approve(EventId).status),
    [200, 200, 200],
  );
  assert.deepEqual(c.document(), before);
});

test('machines that can be approved one by one have an event each, and one event is approved as a whole (F-104)', () => {
  const [a, b, c] = trio();
  // Three machines on three hosts, then the same three on one host.
  const alone = THREE.map((name) => a.schedule({ EventType: 'Redeploy', Resources: [name] }).EventId);
  const { EventId: together } = a.schedule({ EventType: 'Redeploy', Resources: THREE });
  assert.equal(b.approve(alone[1] ?? '').status, 200);
  const statuses = () => new Map(c.statuses());
  assert.deepEqual(
    [...alone, together].map((id) => statuses().get(id)),
    ['Scheduled', 'Started', 'Scheduled', 'Scheduled'],
  );
  assert.equal(c.approve(together).status, 200);
  assert.deepEqual([statuses().get(together), statuses().get(alone[0] ?? '')], ['Started', 'Scheduled']);
});

test('a group is one placement group: 100 machines read one document, and another group has its own (F-105)', () => {
  const names = Array.from({ length: 100 }, (_, index) => `web_${index}`);
  const { machines, first } = simulatedGroup({ vms: names });
  const { EventId } = first.schedule({ Resources: ['web_99'] });
  for (const machine of machines) assert.deepEqual(machine.statuses(), [[EventId, 'Scheduled']]);
  assert.deepEqual(simulatedGroup({ vms: ['web_100'] }).first.statuses(), []);
});

test('a sibling that the event does not name can approve it when the named one hangs (F-57)', () => {
  const [a, b] = trio();
  const { EventId } = a.schedule({ EventType: 'Reboot', EventSource: 'User', Resources: ['web_0'] });
  a.order('PUT', '/faults', { reset: true, vm: 'web_0', for: '1h' }, 204);
  assert.equal(a.get().reset, true);
  assert.equal(b.approve(EventId).status, 200);
  assert.deepEqual(b.statuses(), [[EventId, 'Started']]);
});

test('after a hardware failure the affected machine may get no answer, and its siblings read the event (F-42)', () => {
  const [a, b] = trio();
  const { EventId } = a.schedule({ EventType: 'Reboot', EventStatus: 'Started', Resources: ['web_0'] });
  a.order('PUT', '/faults', { reset: true, vm: 'WEB_0', for: '10m' }, 204);
  assert.equal(a.get().reset, true);
  assert.deepEqual(b.statuses(), [[EventId, 'Started']]);
  a.advance('10m');
  assert.deepEqual(a.statuses(), []);
});

test('GPU machines with one fault domain see only the events of their own resource, in any letter case (F-58)', () => {
  const [a, b, c] = trio({ gpu: true });
  const own = a.schedule({ Resources: ['WEB_1'] }).EventId;
  const shared = a.schedule({ Resources: ['web_0', 'web_1'] }).EventId;
  assert.deepEqual(a.statuses(), [[shared, 'Scheduled']]);
  assert.deepEqual(b.statuses(), [
    [own, 'Scheduled'],
    [shared, 'Scheduled'],
  ]);
  assert.deepEqual(c.statuses(), []);
  assert.deepEqual([a.document().DocumentIncarnation, c.document().DocumentIncarnation], [3, 3]);
});

test('a GPU machine cannot approve an event that it does not see, and approves a shared one for all (F-58)', () => {
  const [a, b, c] = trio({ gpu: true });
  const { EventId } = a.schedule({ Resources: ['web_0', 'web_1'] });
  assert.equal(c.approve(EventId).status, 400);
  assert.equal(b.approve(EventId).status, 200);
  assert.deepEqual(a.statuses(), [[EventId, 'Started']]);
});

test('machine N is in fault domain N modulo 5, in instance metadata and in scenarios; GPU machines are all in 0 (F-49)', () => {
  const vms = Array.from({ length: 7 }, (_, index) => `set_${index}`);
  const fields = { Resources: ['fd:1'] };
  const { machines, first } = simulatedGroup({
    vms,
    scenarios: [scriptOf({ afterMs: 0, action: { kind: 'schedule', fields } })],
  });
  const faultDomains = (of: readonly SimulatedMachine[]) =>
    of.map(
      (machine) =>
        jsonOf<Record<string, string>>(machine.get('/metadata/instance/compute?api-version=2021-02-01'))[
          'platformFaultDomain'
        ],
    );
  assert.deepEqual(faultDomains(machines), ['0', '1', '2', '3', '4', '0', '1']);
  first.order('POST', '/scenarios/test');
  assert.deepEqual(
    first.document().Events.map(({ Resources }) => Resources),
    [['set_1', 'set_6']],
  );
  assert.deepEqual(faultDomains(simulatedGroup({ vms, gpu: true }).machines), Array(7).fill('0'));
});

test('the scenario host-failure names all machines, and machine 0 cannot read the event (F-41, F-42, F-50)', async () => {
  const { machines, first } = simulatedGroup({ vms: ['a', 'b'], scenarios: await shippedScenarios() });
  first.order('POST', '/scenarios/host-failure');
  first.advance('1m');
  assert.equal(first.get().reset, true);
  const [event] = machines[1]?.document().Events ?? [];
  assert.deepEqual(
    [event?.EventType, event?.EventStatus, event?.NotBefore, event?.Resources],
    ['Reboot', 'Started', '', ['a', 'b']],
  );
});
