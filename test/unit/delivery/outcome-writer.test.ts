// Outcomes, and a store that may fail → what is written, when, and what is logged.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { OutcomeWriter } from '../../../src/delivery/outcome-writer.ts';
import type { Retirement, Settlement, SinkError } from '../../../src/model/deliveries.ts';
import { failure } from '../../virtual/scripted-adapter.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

function fixture() {
  const time = new VirtualTime({ startMs: 1_000_000 });
  const writes: (readonly [seqs: readonly number[], atMs: number, error: SinkError | null])[] = [];
  const retirements: Retirement[] = [];
  const logs: { readonly level: number; readonly msg: string; readonly count?: number; readonly reason?: string }[] =
    [];
  const disk: { fault: Error | null } = { fault: null };
  let steps = 0;
  const write = () => {
    if (disk.fault) throw disk.fault;
  };
  const writer = new OutcomeWriter({
    sink: 'hooks',
    store: {
      retire: (_, retirement) => {
        write();
        retirements.push(retirement);
      },
    },
    settle: (_, settlements, atMs, error = null) => {
      write();
      writes.push([settlements.map(({ seq }) => seq), atMs, error]);
    },
    deps: { ...time, random: () => 1 },
    logger: pino({ level: 'debug' }, { write: (line: string) => logs.push(JSON.parse(line)) }),
    onWritten: () => {
      steps += 1;
    },
  });
  return { time, writes, retirements, logs, disk, writer, steps: () => steps };
}

const accepted = (...seqs: readonly number[]): Settlement[] => seqs.map((seq) => ({ seq, result: 'accepted' }));
const count = (length: number) => accepted(...Array.from({ length }, (_, index) => index));
const GONE = { reason: 'gone', atMs: 5 };

test('what arrives together is written once, with the last error, and then reported in order', async () => {
  const { time, writes, writer, steps } = fixture();
  const reported: string[] = [];
  writer.add(accepted(1), () => reported.push('first'));
  writer.failed(failure({}, 'one'));
  writer.failed(failure({}, 'two'));
  writer.add(accepted(2, 3), () => reported.push('second'));
  assert.deepEqual([writes.length, reported.length], [0, 0]);
  await time.advance(0);
  const error = { code: 'BRIDGE_INTERNAL', message: 'two', atMs: 1_000_000 };
  assert.deepEqual(writes, [[[1, 2, 3], 1_000_000, error]]);
  assert.deepEqual([reported, steps()], [['first', 'second'], 1]);
  await time.advance(70);
  writer.add(accepted(4));
  await time.advance(0);
  assert.deepEqual(writes.slice(1), [[[4], 1_000_070, null]]);
  assert.deepEqual(reported.length, 2);
});

test('if there is no outcome nothing is written, and what waits for it is reported all the same', async () => {
  const { time, writes, writer } = fixture();
  let isWritten = false;
  void writer.written().then(() => {
    isWritten = true;
  });
  await time.advance(0);
  assert.deepEqual([writes, isWritten], [[], true]);
});

test('a write that fails is repeated with everything that came since, and logged when that begins and when it ends', async () => {
  const { time, writes, logs, disk, writer, steps } = fixture();
  let isWritten = false;
  disk.fault = new Error('disk full');
  writer.add(accepted(1), () => {
    isWritten = true;
  });
  await time.advance(0);
  writer.add(accepted(2));
  await time.advance(250);
  assert.deepEqual([isWritten, steps(), time.pending], [false, 0, 1]);
  disk.fault = null;
  await time.advance(500);
  assert.deepEqual([writes.map(([seqs]) => seqs), isWritten, steps()], [[[1, 2]], true, 1]);
  assert.deepEqual(
    logs.map(({ level, msg, count, reason }) => [level, msg, count, reason]),
    [
      [50, 'outcomes could not be stored; kept in memory and tried again, their keys wait', 1, 'disk full'],
      [20, 'outcomes could still not be stored', 2, 'disk full'],
      [30, 'outcomes can be stored again', undefined, undefined],
    ],
  );
  writer.add(accepted(3));
  await time.advance(0);
  assert.equal(logs.length, 3);
});

test('after a failure the next write comes at once if something else could be stored, and only then', async () => {
  const { time, writes, disk, writer } = fixture();
  writer.hurry();
  assert.equal(time.pending, 0);
  disk.fault = new Error('disk full');
  writer.add(accepted(1));
  await time.advance(0);
  disk.fault = null;
  await time.advance(249);
  assert.equal(writes.length, 0);
  writer.hurry();
  assert.equal(time.pending, 1);
  await time.advance(0);
  assert.equal(writes.length, 1);
});

test('however long the disk is full, outcomes are stored within 10 s afterwards', async () => {
  const { time, writes, disk, writer } = fixture();
  disk.fault = new Error('disk full');
  writer.add(accepted(1));
  await time.advance(3_600_000);
  disk.fault = null;
  await time.advance(10_000);
  assert.equal(writes.length, 1);
});

test('64 outcomes that wait are enough, or those of one batch and one more; while the disk is full, 64 always are', async () => {
  const { time, disk, writer } = fixture();
  writer.add(count(63));
  assert.equal(writer.isFull(1), false);
  writer.add(accepted(64));
  assert.deepEqual([writer.isFull(63), writer.isFull(64), writer.isFull(100)], [true, false, false]);
  writer.add(count(37));
  assert.deepEqual([writer.isFull(100), writer.isFull(101)], [true, false]);
  disk.fault = new Error('disk full');
  await time.advance(0);
  assert.equal(writer.isFull(200), true);
  disk.fault = null;
  await time.advance(250);
  assert.equal(writer.isFull(1), false);
});

test('a retirement is stored once, behind the outcomes that came with it, and until then it is known to be on its way', async () => {
  const { time, writes, retirements, disk, writer } = fixture();
  assert.equal(writer.isRetiring, false);
  disk.fault = new Error('disk full');
  writer.retire(GONE);
  await time.advance(0);
  assert.deepEqual([writer.isRetiring, retirements], [true, []]);
  disk.fault = null;
  await time.advance(250);
  assert.deepEqual([writer.isRetiring, retirements], [false, [GONE]]);
  writer.add(accepted(1));
  await time.advance(0);
  assert.deepEqual([retirements.length, writes.length], [1, 1]);
  writer.retire(GONE);
  await time.advance(0);
  assert.equal(retirements.length, 2);
});

test('a retirement that is dropped before it is stored is not stored', async () => {
  const { time, retirements, writer } = fixture();
  writer.retire(GONE);
  writer.dropRetirement();
  await time.advance(0);
  assert.deepEqual([writer.isRetiring, retirements], [false, []]);
});

test('a writer that closes writes once more, at once, and logs how many outcomes it could not store', () => {
  const { time, writes, logs, disk, writer, steps } = fixture();
  writer.close();
  writer.add(accepted(1));
  writer.close();
  assert.deepEqual([writes.map(([seqs]) => seqs), time.pending, steps(), logs.length], [[[1]], 0, 0, 0]);
  disk.fault = new Error('disk full');
  writer.add(accepted(2, 3));
  writer.close();
  writer.hurry();
  assert.equal(time.pending, 0);
  assert.deepEqual(
    [logs.at(-1)?.level, logs.at(-1)?.msg, logs.at(-1)?.count],
    [50, 'outcomes could not be stored; these deliveries will be repeated after the next start', 2],
  );
});
