// The built bridge killed while a program prepares → run again once, one yes, recovery after it.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type SimulatedAzure, startSimulator } from '../../../src/simulator.ts';
import { isAlive } from '../../adapters/command/start-command.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { bridgeFolder, posts, startRun } from '../../support/running-bridge.ts';

/** Records when a run begins and ends; a preparation lasts until there is a file `go`. */
const PROGRAM = `#!/bin/sh
echo "$EVENT_CHANGE $BRIDGE_ATTEMPT begins" >> record
echo $$ >> pids
if [ "$EVENT_CHANGE" = scheduled ]; then until [ -e go ]; do sleep 0.02; done; fi
echo "$EVENT_CHANGE $BRIDGE_ATTEMPT ends" >> record
`;

async function startMachine(t: TestContext, more: object = {}) {
  const azure: SimulatedAzure = await startSimulator({ speed: 1, vms: ['web_0'] });
  t.after(() => azure.close());
  const folder = folderOf(t);
  const run = join(folder, 'prepare');
  writeFileSync(run, PROGRAM);
  chmodSync(run, 0o755);
  const filter = { changes: ['scheduled', 'started', 'ended'] };
  const sink = { type: 'command', run: [run], directory: folder, approve: 'node', hold: 'node', filter, ...more };
  const sections = { publish: { resources: 'own' }, approvals: { approvers: { node: {} } }, sinks: { sink } };
  const lines = (name: string) =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8').trim().split('\n') : [];
  const bridge = bridgeFolder(t, azure.url, sections, folder);
  return {
    azure,
    folder,
    lines,
    start: () => startRun(t, bridge),
    record: (count: number) =>
      poll(
        () => lines('record').length >= count,
        () => lines('record').join(', '),
      ),
    go: () => writeFileSync(join(folder, 'go'), ''),
  };
}

test('killed while its program prepares: that run is ended, the next one is the second, one yes, one StartRequest, then the recovery', async (t) => {
  const { azure, lines, start, record, go } = await startMachine(t);
  const first = await start();
  const { EventId } = azure.schedule({ EventType: 'Reboot' });
  await record(1);
  await first.end('SIGKILL');
  const [outlived = 0] = lines('pids').map(Number);
  assert.ok(isAlive(outlived));
  const second = await start();
  await record(2);
  assert.ok(!isAlive(outlived), 'it was ended before the next one began');
  assert.deepEqual(posts(azure), []);
  go();
  await second.logs('approval submitted');
  await record(5);
  azure.end(EventId);
  await record(7);
  assert.deepEqual(lines('record'), [
    'scheduled 1 begins',
    ...['scheduled 2 begins', 'scheduled 2 ends'],
    ...['started 1 begins', 'started 1 ends'],
    ...['ended 1 begins', 'ended 1 ends'],
  ]);
  assert.deepEqual(posts(azure), [200]);
});

for (const [what, cancel, expected] of [
  ['the preparation runs again, and the recovery after it', false, ['scheduled 2 begins', 'scheduled 2 ends']],
  ['where it cancels, what is left of the preparation is ended, and the recovery runs', true, []],
] as const)
  test(`the event was over before the bridge was back: ${what}`, async (t) => {
    const { azure, lines, start, record, go } = await startMachine(t, {
      cancel,
      filter: { changes: ['scheduled', 'ended'] },
    });
    const first = await start();
    const { EventId } = azure.schedule({ EventType: 'Reboot' });
    await record(1);
    await first.end('SIGKILL');
    const [outlived = 0] = lines('pids').map(Number);
    azure.cancel(EventId);
    await start();
    await poll(() => !isAlive(outlived), 'the run that outlived its bridge to be ended');
    // With cancel, the first run never gets so far; without, the second one goes on here.
    if (!cancel) await record(2);
    go();
    await record(3 + expected.length);
    assert.deepEqual(lines('record'), ['scheduled 1 begins', ...expected, 'ended 1 begins', 'ended 1 ends']);
    assert.deepEqual(posts(azure), []);
  });

for (const [what, sinks] of [
  ['its sink is no longer configured', { other: { type: 'stdout' } }],
  ['its sink is of another kind', { sink: { type: 'stdout' } }],
] as const)
  test(`the next start ends a run that outlived a killed bridge, even if ${what}`, async (t) => {
    const { azure, folder, lines, start, record } = await startMachine(t);
    const first = await start();
    azure.schedule({ EventType: 'Reboot' });
    await record(1);
    await first.end('SIGKILL');
    const [outlived = 0] = lines('pids').map(Number);
    assert.ok(isAlive(outlived));
    const next = await startRun(t, bridgeFolder(t, azure.url, { sinks }, folder));
    await poll(() => !isAlive(outlived), 'the run that outlived its bridge to be ended');
    await next.logs('a run has outlived');
  });
