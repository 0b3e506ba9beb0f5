// Five bridges as processes, kill -9 and SIGSTOP → who posts, by the simulator's own journal.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { poll } from '../../support/poll.ts';
import { type Program, start } from '../../support/program.ts';
import { type BridgeFolder, bridgeFolder, startRun } from '../../support/running-bridge.ts';

const APPROVALS = {
  policy: [{ when: { initiators: ['User'] }, then: 'approve' }],
  group: { submit: 'leader', failoverAfter: '3s' },
};

interface Machine {
  readonly vm: string;
  readonly endpoint: string;
}

interface Journalled {
  readonly vm: string;
  readonly method: string;
  readonly status: number | null;
}

/** `simulate --vms 5`, where each second is a minute. */
async function simulatedGroup(t: TestContext): Promise<readonly Machine[]> {
  const simulator = start(t, ['simulate', '--listen', '127.0.0.1:0', '--vms', '5', '--speed', '60']);
  const lines = await simulator.lines(5);
  return lines.map((line) => JSON.parse(line) as Machine);
}

/** An event that neither starts nor ends by itself while the test runs. */
async function schedule({ endpoint }: Machine): Promise<void> {
  const body = JSON.stringify({ EventType: 'Reboot', EventSource: 'User', notice: '10h', startedFor: '10h' });
  const answer = await fetch(`${endpoint}/simulator/events`, { method: 'POST', body });
  assert.equal(answer.status, 201);
}

/** Of the StartRequests: whose, and what was answered. */
async function posts({ endpoint }: Machine): Promise<(readonly [string, number | null])[]> {
  const requests = (await (await fetch(`${endpoint}/simulator/requests`)).json()) as Journalled[];
  return requests.filter(({ method }) => method === 'POST').map(({ vm, status }) => [vm, status] as const);
}

/** Resolves once this bridge has told of so many starts. */
async function started(bridge: Program, count: number): Promise<void> {
  await poll(() => bridge.stdout.split('.started.v1').length > count, `${count} started events`);
}

test('five processes: the leader killed and the second stopped, the third posts; the second wakes and the leader returns without harm', async (t) => {
  const machines = await simulatedGroup(t);
  const [first] = machines as readonly [Machine];
  const folders = machines.map(({ endpoint }) =>
    bridgeFolder(t, endpoint, { approvals: APPROVALS, sinks: { audit: { type: 'stdout' } } }),
  );
  const bridges = await Promise.all(folders.map((folder) => startRun(t, folder)));
  const [leader, ...others] = bridges as [Program, ...Program[]];
  const [second, third] = others as [Program, Program];

  await leader.end('SIGKILL');
  second.child.kill('SIGSTOP');
  await schedule(first);
  await started(third, 1);
  second.child.kill('SIGCONT');
  await started(second, 1);
  assert.deepEqual(await posts(first), [['sim_2', 200]]);

  await startRun(t, folders[0] as BridgeFolder);
  await schedule(first);
  for (const bridge of others) await started(bridge, 2);
  assert.deepEqual(await posts(first), [
    ['sim_2', 200],
    ['sim_0', 200],
  ]);
});
