// The built bridge with programs under way, and a Preempt → its program starts at once.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type SimulatedAzure, startSimulator } from '../../../src/simulator.ts';
import { isAlive } from '../../adapters/command/start-command.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { bridgeFolder, peek, startRun } from '../../support/running-bridge.ts';

/** Each run says its event and pid; that of a Reboot lasts until there is a file `go`. */
const PROGRAM = `#!/bin/sh
echo "$EVENT_TYPE $BRIDGE_ATTEMPT $$" >> record
if [ "$EVENT_TYPE" = Reboot ]; then until [ -e go ]; do sleep 0.02; done; fi
`;

async function startMachine(t: TestContext) {
  const azure: SimulatedAzure = await startSimulator({ speed: 1, vms: ['web_0'] });
  t.after(() => azure.close());
  const folder = folderOf(t);
  const run = join(folder, 'prepare');
  writeFileSync(run, PROGRAM);
  chmodSync(run, 0o755);
  const configure = (more: object) => {
    const drain = { type: 'command', run: [run], directory: folder, filter: { changes: ['scheduled'] }, ...more };
    return bridgeFolder(t, azure.url, { sinks: { drain } }, folder);
  };
  const record = () => {
    const path = join(folder, 'record');
    const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
    return lines.map((line) => line.split(' '));
  };
  const began = (type: string, count: number) =>
    poll(
      () => record().filter(([of]) => of === type).length === count,
      () => JSON.stringify(record()),
    );
  return { azure, configure, record, began, go: () => writeFileSync(join(folder, 'go'), '') };
}

test('a Preempt has its program at once although four others run, and again after a reload; those run to their ends and count once', async (t) => {
  const { azure, configure, record, began, go } = await startMachine(t);
  const folder = configure({ timeout: '10m' });
  const bridge = await startRun(t, folder);
  for (let event = 0; event < 5; event++) azure.schedule({ EventType: 'Reboot' });
  await began('Reboot', 4);
  azure.schedule({ EventType: 'Preempt' });
  await began('Preempt', 1);
  assert.equal(record().filter(([type]) => type === 'Reboot').length, 4, 'the fifth waits for a place');

  configure({ timeout: '5m', concurrency: 1 });
  bridge.child.kill('SIGHUP');
  await bridge.logs('was read again and is in force');
  // By the new settings there is one place, and none of the four has it.
  await began('Reboot', 5);
  azure.schedule({ EventType: 'Preempt' });
  await began('Preempt', 2);
  const pids = record().flatMap(([type, , pid]) => (type === 'Reboot' ? [Number(pid)] : []));
  assert.deepEqual(pids.map(isAlive), [true, true, true, true, true], bridge.stderr);
  go();
  await poll(() => peek(folder, ({ queue }) => queue.backlog('drain').queued === 0), 'all to be accepted');
  assert.deepEqual(
    record().map(([type, attempt]) => `${type} ${attempt}`),
    [...Array(4).fill('Reboot 1'), 'Preempt 1', 'Reboot 1', 'Preempt 1'],
  );
  assert.doesNotMatch(bridge.stderr, /outlived/);
  assert.equal((await bridge.end('SIGTERM')).code, 0);
});
