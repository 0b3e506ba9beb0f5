// A process that holds or writes the store and is killed → what the next one finds.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test, { type TestContext } from 'node:test';
import { FIRST_PART } from '../../../src/approvals/views/queries.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { queuedIds, temporaryFolder, testStore } from '../../virtual/outbox-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const CHILD = join(import.meta.dirname, 'store-kill-child.ts');

interface Running {
  readonly child: ChildProcess;
  /** The lines that it said, once it has said so many. */
  readonly said: (lines: number) => Promise<string[]>;
  /** kill -9; resolves with everything that it said. */
  readonly kill: () => Promise<string[]>;
}

function start(t: TestContext, work: string, folder: string): Running {
  const child = spawn(process.execPath, [CHILD, work, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  output.on('line', (line) => lines.push(line));
  const closed = once(output, 'close');
  const said = async (count: number): Promise<string[]> => {
    while (lines.length < count)
      await Promise.race([once(output, 'line'), closed.then(() => assert.fail(`${work} ended early`))]);
    return lines;
  };
  const kill = async (): Promise<string[]> => {
    child.kill('SIGKILL');
    await Promise.all([once(child, 'exit'), closed]);
    return lines;
  };
  return { child, said, kill };
}

test('a second run on the same store is refused, with the folder and the process that has it', async (t) => {
  const folder = join(temporaryFolder(t), 'store');
  const { child, said } = start(t, 'hold', folder);
  await said(1);
  assert.throws(() => openOutbox(folder, { deps: new VirtualTime(), lock: true }), {
    code: 'BRIDGE_STORE_LOCKED',
    message: new RegExp(`${folder} is in use by process ${child.pid}`),
  });
});

test('kill -9 frees the lock', async (t) => {
  const folder = join(temporaryFolder(t), 'store');
  const { said, kill } = start(t, 'hold', folder);
  await said(1);
  await kill();
  assert.ok(existsSync(join(folder, 'run.pid')), 'it had no time to tidy up');
  using outbox = openOutbox(folder, { deps: new VirtualTime(), lock: true });
  assert.equal(readFileSync(join(folder, 'run.pid'), 'utf8'), `${process.pid}\n`);
  assert.equal(outbox.known.load().lastGoodAt !== null, false);
});

test('an outbox that is closed frees the lock, and one that could not be opened does not keep it', (t) => {
  const { folder, time, outbox } = testStore(t);
  assert.throws(() => openOutbox(folder, { deps: time, lock: true }), { code: 'BRIDGE_STORE_LOCKED' });
  outbox.close();
  outbox.close();
  assert.equal(existsSync(join(folder, 'run.pid')), false);
  const file = join(folder, 'outbox.db');
  const whole = readFileSync(file);
  writeFileSync(file, 'no database');
  assert.throws(() => openOutbox(folder, { deps: time, lock: true }), { code: 'BRIDGE_STORE_DAMAGED' });
  writeFileSync(file, whole);
  openOutbox(folder, { deps: time, lock: true }).close();
});

test('a verb works while another process holds the lock', async (t) => {
  const folder = join(temporaryFolder(t), 'store');
  const { said } = start(t, 'hold', folder);
  await said(1);
  using verb = openOutbox(folder, { deps: new VirtualTime(), lock: false });
  assert.deepEqual([...verb.deadLetters.list()], []);
});

test('every reported commit survives kill -9 completely: state, journal, a row for each sink, approvals and their record', async (t) => {
  for (const most of [1, 20, 60]) {
    const folder = join(temporaryFolder(t), 'store');
    const { said, kill } = start(t, 'commit', folder);
    await said(most);
    const told = Number((await kill()).at(-1));
    using outbox = openOutbox(folder, { deps: new VirtualTime(), lock: true });
    const stored = outbox.known.load().incarnation ?? 0;
    assert.ok(stored >= told, `it told of ${told} commits, ${stored} are there`);
    const ids = Array.from({ length: stored }, (_, index) => `e${index + 1}:scheduled`);
    for (const sink of ['audit', 'hooks']) {
      const rows = outbox.queue.queued(sink, [], 1_000_000);
      assert.deepEqual(
        rows.map(({ id }) => id),
        ids,
      );
    }
    assert.deepEqual([...outbox.known.load().events.keys()], [`e${stored}`]);
    assert.ok(ids.every((id) => outbox.journal.isUsed(id)));
    for (let occurrence = 1; occurrence <= stored; occurrence++) {
      assert.equal(outbox.approvals.of(occurrence)?.key, `e${occurrence}`);
      assert.deepEqual(
        outbox.approvals.record(occurrence, FIRST_PART).steps.map(({ step }) => step),
        ['recorded', 'decided'],
      );
    }
    assert.deepEqual(
      [outbox.approvals.of(stored + 1), outbox.approvals.record(stored + 1, FIRST_PART).steps],
      [null, []],
    );
  }
});

test('a transaction that kill -9 cut short has left nothing', async (t) => {
  const folder = join(temporaryFolder(t), 'store');
  const { said, kill } = start(t, 'inside', folder);
  await said(1);
  await kill();
  using outbox = openOutbox(folder, { deps: new VirtualTime(), lock: true });
  assert.equal(outbox.known.load().lastGoodAt !== null, false);
  assert.equal(outbox.journal.isUsed('a:scheduled'), false);
  assert.deepEqual([outbox.approvals.of(1), outbox.approvals.record(1, FIRST_PART).steps], [null, []]);
  assert.deepEqual(queuedIds(outbox), []);
});

test('a heartbeat and an acceptance survive kill -9 although they cost no fsync', async (t) => {
  const folder = join(temporaryFolder(t), 'store');
  const { said, kill } = start(t, 'relaxed', folder);
  await said(1);
  await kill();
  using outbox = openOutbox(folder, { deps: new VirtualTime(), lock: true });
  assert.equal(outbox.known.load().lastGoodAt?.wallMs, 4_000_000);
  assert.deepEqual(queuedIds(outbox), []);
});
