// kill -9 of `run` with a file sink, again and again → every CloudEvent in its files, lines whole.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { idsIn } from '../../adapters/file/steady-load.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { bridgeFolder, peek, startRun } from '../../support/running-bridge.ts';

test('after kill -9 at five moments every CloudEvent of the journal is in the files', async (t) => {
  const simulator = await localSimulator(t);
  const folder = folderOf(t);
  mkdirSync(join(folder, 'logs'));
  const sinks = { archive: { type: 'file', path: 'logs/events.ndjson', rotate: { size: '8KiB', keep: 100 } } };
  const bridge = bridgeFolder(t, simulator.url, { sinks }, folder);
  for (let round = 0; round < 5; round++) {
    const program = await startRun(t, bridge);
    for (let count = 0; count < 5; count++) simulator.schedule();
    const before = idsIn(join(folder, 'logs')).length;
    // Not until all is written: somewhere between the first line of the round and its last.
    await poll(() => idsIn(join(folder, 'logs')).length > before, 'a line of this round');
    await program.end('SIGKILL');
  }
  await startRun(t, bridge);
  const expected = () => peek(bridge, (outbox) => outbox.queue.queued('archive', [], 1000).length) === 0;
  await poll(expected, 'an empty queue');
  const ids = new Set(idsIn(join(folder, 'logs')));
  const scheduled = simulator.events().map(({ EventId }) => `${EventId.toLowerCase()}:scheduled`);
  assert.ok(scheduled.length >= 25, `${scheduled.length} events`);
  await poll(() => {
    for (const id of idsIn(join(folder, 'logs'))) ids.add(id);
    return scheduled.every((id) => ids.has(id));
  }, 'every event');
});
