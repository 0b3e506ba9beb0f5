// A command sink on a real lane and a real store → bounded programs, and a disk that is full.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import * as v from 'valibot';
import { commandSink } from '../../../adapters/command/command.ts';
import { Lane } from '../../../src/delivery/lane.ts';
import { manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { systemDeps } from '../../../src/time/system.ts';
import { poll } from '../../support/poll.ts';
import { smallDisk } from '../../support/small-disk.ts';
import { entry } from '../../virtual/outbox-fixture.ts';
import { adapterDeps } from '../adapter-deps.ts';
import { Scripts } from './start-command.ts';

const SINK = 'drain';

/** The parts as the bridge composes them. The programs run in the folder of the scripts. */
function startSink(
  t: TestContext,
  scripts: Scripts,
  options: Readonly<Record<string, unknown>>,
  store = join(scripts.folder, 'store'),
) {
  const deps = systemDeps();
  const outbox = openOutbox(store, { deps, lock: true });
  outbox.sinks.sync([{ name: SINK, type: 'command', fingerprint: 'one' }]);
  const notes = {
    all: () => outbox.notes.all(SINK),
    write: (seq: number, text: string | null) => outbox.notes.write(SINK, seq, text),
  };
  const parts = adapterDeps({ notes, directory: scripts.folder, env: { PATH: process.env['PATH'] } });
  const adapter = manageAdapter(
    commandSink.create(v.parse(commandSink.options, { directory: '.', ...options }), parts),
    SINK,
  );
  const lane = new Lane({ name: SINK, adapter, store: outbox.queue, deps, logger: parts.logger });
  t.after(async () => {
    await lane.close(0);
    outbox.close();
  });
  lane.start();
  const queue = (ids: readonly string[]) => {
    outbox.transact((transaction) => {
      for (const id of ids) transaction.append(entry(id), [SINK], deps.wallMs());
    });
    lane.wake();
  };
  return { lane, outbox, queue, isEmpty: () => outbox.queue.queued(SINK, [], 1).length === 0, logged: parts.logged };
}

/** The most that ran at once, by a record of `+ID` and `-ID` lines. */
function mostAtOnce(lines: readonly string[]): number {
  let [running, most] = [0, 0];
  for (const line of lines) {
    running += line.startsWith('+') ? 1 : -1;
    most = Math.max(most, running);
  }
  return most;
}

test('1,000 events at once are 1,000 runs, one each, in order within an event, and never more at once than allowed', {
  timeout: 120_000,
}, async (t) => {
  const scripts = new Scripts(t);
  // Standard input is read to its end: a pipe that was left over from another run would show.
  const run = [
    scripts.write('run', 'echo "+$CE_ID" >> record; while read -r line; do :; done; echo "-$CE_ID" >> record'),
  ];
  const { queue, isEmpty } = startSink(t, scripts, { run, concurrency: 8 });
  const firsts = Array.from({ length: 950 }, (_, index) => `event-${index}:scheduled`);
  const seconds = Array.from({ length: 50 }, (_, index) => `event-${index}:updated`);
  queue([...firsts, ...seconds]);
  await poll(isEmpty, 'all to be delivered', 100_000);
  const lines = (scripts.read('record') ?? '').trim().split('\n');
  const began = lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1));
  assert.deepEqual(began.toSorted(), [...firsts, ...seconds].sort());
  assert.ok(mostAtOnce(lines) <= 8, `${mostAtOnce(lines)} at once`);
  for (const id of seconds) {
    const [before, after] = [lines.indexOf(`-${id.replace('updated', 'scheduled')}`), lines.indexOf(`+${id}`)];
    assert.ok(before >= 0 && before < after, id);
  }
});

test('a disk that is full while a program runs: it runs once, and its end counts once there is room', async (t) => {
  const disk = smallDisk(t, '2m');
  if ('reason' in disk) return t.skip(disk.reason);
  const scripts = new Scripts(t);
  const run = [
    scripts.write(
      'run',
      'echo "+$CE_ID $BRIDGE_ATTEMPT" >> record; while [ "$EVENT_ID" = A ] && [ ! -e go ]; do sleep 0.01; done',
    ),
  ];
  const store = join(disk.folder, 'store');
  const { queue, isEmpty, outbox, logged } = startSink(t, scripts, { run }, store);
  queue(['a:scheduled']);
  await scripts.line('record');
  queue(['b:scheduled', ...Array.from({ length: 5 }, (_, index) => `c${index}:scheduled`)]);
  await poll(() => (scripts.read('record') ?? '').split('\n').length >= 8, 'the others to run');
  await poll(() => outbox.queue.queued(SINK, [], 10).length === 1, 'the others to be delivered');
  disk.fill();
  scripts.write('go', '');
  await poll(() => /BRIDGE_STORE_FULL|is full/.test(logged()), 'the log to say that the disk is full');
  assert.deepEqual(
    outbox.queue.queued(SINK, [], 10).map(({ id }) => id),
    ['a:scheduled'],
  );
  disk.free();
  await poll(isEmpty, 'the outcome to be stored');
  queue(['a:updated']);
  await poll(isEmpty, 'the next one');
  const runs = (scripts.read('record') ?? '').split('\n').filter((line) => line.startsWith('+a'));
  assert.deepEqual(runs, ['+a:scheduled 1', '+a:updated 1']);
});
