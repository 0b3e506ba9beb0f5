// Runs that go on without their bridge → ended before the same event runs again; others left alone.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { DeliveryNotes } from '../../../adapters/adapter.ts';
import { findOutlived } from '../../../adapters/command/former-runs.ts';
import { Processes } from '../../../adapters/command/processes.ts';
import type { OpenRun } from '../../../adapters/command/run-notes.ts';
import { poll } from '../../support/poll.ts';
import { deliveryNotes } from '../adapter-deps.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { hurriedTime } from './hurried-time.ts';
import { isAlive, Scripts, startCommand } from './start-command.ts';

/** The first run hangs with a child; each later one says which it is, and ends. */
const HANGS_ONCE = `
echo "$BRIDGE_ATTEMPT" >> attempts
[ "$BRIDGE_ATTEMPT" = 1 ] || exit 0
sleep 1000 &
echo $! $$ > pids
wait`;

function notesOf(entries: readonly { readonly seq: number; readonly text: string }[]): DeliveryNotes {
  const notes = deliveryNotes();
  for (const { seq, text } of entries) notes.write(seq, text);
  return notes;
}

/** A run that goes on, the processes of it, and the notes of its bridge. */
async function leftBehind(t: TestContext, body = HANGS_ONCE) {
  const scripts = new Scripts(t);
  const options = { run: [scripts.write('run', body)] };
  const notes = deliveryNotes();
  void startCommand(t, scripts, options, { notes, time: hurriedTime() }).deliver();
  const pids = (await scripts.line('pids')).split(' ').map(Number);
  await poll(() => /"pid":\d/.test(notes.all()[0]?.text ?? ''), 'the note of its pid');
  t.after(() => {
    for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL');
  });
  // As they stood then: this adapter sees the end of the run, which a killed bridge would not.
  const kept = notes.all();
  /** @param change what is different in the note */
  const next = (change: Readonly<Record<string, unknown>> = {}) => {
    const changed = kept.map(({ seq, text }) => {
      const note = JSON.parse(text);
      return { seq, text: JSON.stringify({ ...note, open: { ...note.open, ...change } }) };
    });
    return startCommand(t, scripts, options, { notes: notesOf(changed), time: hurriedTime() });
  };
  return { scripts, pids, kept, next };
}

function started(t: TestContext, file: string, args: readonly string[]): ChildProcess {
  const child = spawn(file, args, { detached: true, stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

test('a run that outlived a bridge killed by SIGKILL is ended before the next run, which gets the number 2', async (t) => {
  const scripts = new Scripts(t);
  const options = { run: [scripts.write('run', HANGS_ONCE)] };
  const bridge = started(t, process.execPath, [join(import.meta.dirname, 'killed-bridge.ts'), scripts.folder]);
  const pids = (await scripts.line('pids')).split(' ').map(Number);
  await poll(
    () => /"startedAt/.test(scripts.read('notes') ?? '') && /pid\\":\d/.test(scripts.read('notes') ?? ''),
    'the note of its pid',
  );
  bridge.kill('SIGKILL');
  await once(bridge, 'exit');
  assert.ok(pids.every(isAlive));
  const notes = notesOf(JSON.parse(scripts.read('notes') ?? ''));
  const { deliver, logged } = startCommand(t, scripts, options, { notes });
  assert.equal(await deliver(), 'accepted');
  assert.deepEqual(pids.filter(isAlive), []);
  assert.equal(scripts.read('attempts'), '1\n2\n');
  assert.ok(logged().some(({ level, msg }) => level === 40 && /outlived/.test(String(msg))));
});

test('the next bridge ends it at its start, even if no delivery of its event comes', async (t) => {
  const { pids, next, scripts } = await leftBehind(t);
  const { adapter, deliver } = next();
  await adapter.start?.();
  assert.deepEqual(pids.filter(isAlive), []);
  assert.equal(await deliver(), 'accepted');
  assert.equal(scripts.read('attempts'), '1\n2\n');
});

test('a delivery that comes while its former run is being ended waits for that end', async (t) => {
  const { pids, next, scripts } = await leftBehind(
    t,
    HANGS_ONCE.replace('sleep 1000 &', `trap '' TERM; sleep 1000 &`).replace('wait', 'while :; do sleep 0.1; done'),
  );
  const { adapter, deliver, logged } = next();
  const [outcome] = await Promise.all([deliver(), adapter.start?.()]);
  assert.equal(outcome, 'accepted');
  assert.deepEqual(pids.filter(isAlive), []);
  assert.equal(scripts.read('attempts'), '1\n2\n');
  assert.equal(logged().filter(({ msg }) => /outlived/.test(String(msg))).length, 1);
});

test('it is found by its mark if the bridge was killed before it could store the pid', async (t) => {
  const { pids, next, scripts } = await leftBehind(t);
  assert.equal(await next({ pid: null, startedAt: null }).deliver(), 'accepted');
  assert.deepEqual(pids.filter(isAlive), []);
  assert.equal(scripts.read('attempts'), '1\n2\n');
});

test('it is found if the boot time of the machine is unknown, and a process with the same pid and start time is left alone', async (t) => {
  const { pids, kept } = await leftBehind(t);
  const foreign = started(t, 'sleep', ['1000']);
  const unknown = new (class extends Processes {
    override bootId = () => Promise.resolve(null);
  })();
  const system = { processes: unknown };
  const { open } = JSON.parse(kept[0]?.text ?? '') as { readonly open: OpenRun };
  assert.equal(await findOutlived({ ...open, boot: null }, system), pids[1]);
  const startedAt = (await unknown.one(foreign.pid ?? 0))?.startedAt ?? null;
  assert.equal(await findOutlived({ ...open, boot: null, pid: foreign.pid ?? 0, startedAt }, system), null);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
});

test('if the program itself has ended, the rest of its group is ended', async (t) => {
  const { pids, next } = await leftBehind(t);
  const [child = 0, program = 0] = pids;
  process.kill(program, 'SIGKILL');
  await poll(() => !isAlive(program), 'the program to go');
  assert.ok(isAlive(child));
  assert.equal(await next().deliver(), 'accepted');
  assert.ok(!isAlive(child));
});

test('one that ignores TERM gets KILL before the next one begins', async (t) => {
  const { pids, next, scripts } = await leftBehind(
    t,
    HANGS_ONCE.replace('sleep 1000 &', `trap '' TERM; sleep 1000 &`).replace('wait', 'while :; do sleep 0.1; done'),
  );
  assert.equal(await next().deliver(), 'accepted');
  assert.deepEqual(pids.filter(isAlive), []);
  assert.equal(scripts.read('attempts'), '1\n2\n');
});

for (const [what, change] of [
  ['has its number and began at another time', { startedAt: '1' }],
  ['has its number after another start of the machine', { boot: 'another' }],
] as const) {
  test(`a process that ${what} is left alone`, async (t) => {
    const scripts = new Scripts(t);
    const foreign = started(t, 'sleep', ['1000']);
    const processes = new Processes();
    const known = {
      boot: await processes.bootId(),
      pid: foreign.pid,
      startedAt: (await processes.one(foreign.pid ?? 0))?.startedAt,
    };
    const open = { key: sampleDelivery().partitionKey, mark: 'f'.repeat(32), ...known, ...change };
    const text = JSON.stringify({ runs: 1, open });
    const { deliver } = startCommand(
      t,
      scripts,
      { run: [scripts.write('run', 'echo "$BRIDGE_ATTEMPT" > attempt')] },
      { notes: notesOf([{ seq: 1, text }]) },
    );
    assert.equal(await deliver(), 'accepted');
    assert.equal(scripts.read('attempt'), '2\n');
    assert.ok(isAlive(foreign.pid ?? 0));
  });
}

test('nothing waits for the run of another event, which continues until its own event runs again', async (t) => {
  const { pids, next, scripts } = await leftBehind(t);
  scripts.write('run', 'exit 0');
  const { deliver } = next();
  assert.equal(await deliver(sampleDelivery({ seq: 2, partitionKey: 'other' })), 'accepted');
  assert.ok(pids.every(isAlive));
  assert.equal(await deliver(), 'accepted');
  assert.deepEqual(pids.filter(isAlive), []);
});

test('notes of another shape are ignored', async (t) => {
  const scripts = new Scripts(t);
  const notes = notesOf(
    ['', 'null', '{"runs":"2"}', '{"runs":2,"open":{"key":7}}'].map((text, index) => ({ seq: index + 1, text })),
  );
  const { deliver } = startCommand(
    t,
    scripts,
    { run: [scripts.write('run', 'echo "$BRIDGE_ATTEMPT" >> attempts')] },
    { notes },
  );
  for (const seq of [1, 2, 3, 4]) assert.equal(await deliver(sampleDelivery({ seq })), 'accepted');
  assert.equal(scripts.read('attempts'), '1\n1\n1\n3\n');
});
