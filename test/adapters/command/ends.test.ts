// Runs that the bridge ends (limit, beforeStart, superseded, stop) → what is left of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { poll } from '../../support/poll.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { hurriedTime } from './hurried-time.ts';
import { eventDelivery, isAlive, never, Scripts, startCommand } from './start-command.ts';

/** A program and a child of it, which write their numbers into the file `pids`. */
const FAMILY = 'sleep 1000 & echo $! $$ > pids; wait';
/** The same, and neither ends by TERM. */
const STUBBORN = `trap '' TERM; sh -c 'trap "" TERM; while :; do sleep 1; done' & echo $! $$ > pids; while :; do sleep 1; done`;

async function pidsOf(scripts: Scripts): Promise<readonly number[]> {
  return (await scripts.line('pids')).split(' ').map(Number);
}

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString();
}

test('a run past its limit gets TERM with its whole group, and is run again', async (t) => {
  const scripts = new Scripts(t);
  const { deliver } = startCommand(t, scripts, { run: [scripts.write('run', FAMILY)], timeout: '300ms' });
  const failure = failed(await deliver());
  assert.deepEqual([failure.code, failure.disposition, failure.status], ['BRIDGE_COMMAND_TIMEOUT', 'retry', 'timeout']);
  assert.match(
    failure.message,
    /had not ended after 300ms and was ended, nothing on standard error; the bridge runs it again/,
  );
  assert.deepEqual((await pidsOf(scripts)).filter(isAlive), []);
});

test('a group that ignores TERM gets KILL after 5 s', async (t) => {
  const scripts = new Scripts(t);
  const time = hurriedTime();
  const { deliver } = startCommand(t, scripts, { run: [scripts.write('run', STUBBORN)], timeout: '2s' }, { time });
  const startedMs = time.elapsedMs();
  assert.equal(failed(await deliver()).code, 'BRIDGE_COMMAND_TIMEOUT');
  assert.ok(time.elapsedMs() - startedMs >= 7_000);
  assert.deepEqual((await pidsOf(scripts)).filter(isAlive), []);
});

test('a run that was ended is never accepted by its exit code, and never a yes', async (t) => {
  const scripts = new Scripts(t);
  const run = [scripts.write('run', `trap 'exit 0' TERM; while :; do sleep 0.01; done`)];
  const { deliver } = startCommand(t, scripts, { run, timeout: '200ms', approve: 'orders' });
  assert.equal(failed(await deliver(eventDelivery('scheduled', {}))).code, 'BRIDGE_COMMAND_TIMEOUT');
});

test('a run for scheduled or updated is ended so long before NotBefore, for a dead letter as expired', async (t) => {
  const scripts = new Scripts(t);
  const { deliver } = startCommand(t, scripts, { run: [scripts.write('run', FAMILY)], beforeStart: '1h' });
  for (const change of ['scheduled', 'updated']) {
    const notBefore = new Date(Date.now() + 3_600_300).toISOString();
    const failure = failed(await deliver(eventDelivery(change, { notBefore })));
    assert.deepEqual([failure.code, failure.disposition], ['BRIDGE_COMMAND_TOO_LATE', 'expired']);
    assert.match(failure.message, /was ended 1h before NotBefore/);
  }
  assert.deepEqual((await pidsOf(scripts)).filter(isAlive), []);
});

test('one that would begin later is not begun; started, ended and an event without a time have no such limit', async (t) => {
  const scripts = new Scripts(t);
  const { deliver } = startCommand(t, scripts, {
    run: [scripts.write('run', 'echo "$EVENT_CHANGE" >> runs')],
    beforeStart: '1h',
  });
  const failure = failed(await deliver(eventDelivery('scheduled', { notBefore: inDays(0) })));
  assert.deepEqual([failure.code, failure.disposition], ['BRIDGE_COMMAND_TOO_LATE', 'expired']);
  assert.equal(scripts.read('runs'), null);
  assert.equal(await deliver(eventDelivery('started', { notBefore: inDays(-1) })), 'accepted');
  assert.equal(await deliver(eventDelivery('scheduled', { notBefore: null })), 'accepted');
  assert.equal(await deliver(eventDelivery('scheduled', { notBefore: inDays(1) })), 'accepted');
  assert.equal(scripts.read('runs'), 'started\nscheduled\nscheduled\n');
});

test('a superseded run gets TERM and counts as accepted, superseded, once nothing of it runs', async (t) => {
  const scripts = new Scripts(t);
  const superseded = new AbortController();
  const { deliver } = startCommand(t, scripts, {
    run: [scripts.write('run', FAMILY)],
    cancel: true,
    approve: 'orders',
  });
  const outcome = deliver(eventDelivery('scheduled', {}), new AbortController().signal, superseded.signal);
  const pids = await pidsOf(scripts);
  superseded.abort();
  assert.deepEqual(await outcome, { result: 'accepted', status: 'superseded' });
  assert.deepEqual(pids.filter(isAlive), []);
});

test('what was superseded before its turn is not begun', async (t) => {
  const scripts = new Scripts(t);
  const { deliver } = startCommand(t, scripts, { run: [scripts.write('run', ': > ran')], cancel: true });
  const outcome = await deliver(sampleDelivery(), new AbortController().signal, AbortSignal.abort());
  assert.deepEqual(outcome, { result: 'accepted', status: 'superseded' });
  assert.equal(scripts.read('ran'), null);
});

test('a stop rejects at once, and close waits until the group has ended, by KILL if TERM does nothing', async (t) => {
  const scripts = new Scripts(t);
  const time = hurriedTime();
  const { adapter, bare } = startCommand(t, scripts, { run: [scripts.write('run', STUBBORN)] }, { time });
  const stop = new AbortController();
  const reason = new Error('the bridge stops');
  const stopped = assert.rejects(adapter.deliver([sampleDelivery()], stop.signal), (error) => error === reason);
  const pids = await pidsOf(scripts);
  const stoppedMs = time.elapsedMs();
  stop.abort(reason);
  await stopped;
  assert.ok(time.elapsedMs() - stoppedMs < 5_000);
  assert.ok(pids.every(isAlive));
  await adapter[Symbol.asyncDispose]();
  assert.deepEqual(pids.filter(isAlive), []);
  assert.ok((bare.limits.closeMs ?? 0) > 5_500);
});

test('a stop that cannot end a program reports its pid, and the bridge closes', async (t) => {
  const scripts = new Scripts(t);
  const { adapter, logged } = startCommand(
    t,
    scripts,
    { run: [scripts.write('run', 'echo $$ > pid; exec sleep 1000')] },
    { time: hurriedTime() },
  );
  const stop = new AbortController();
  const stopped = assert.rejects(adapter.deliver([sampleDelivery()], stop.signal));
  const pid = Number(await scripts.line('pid'));
  const { kill } = process;
  t.after(() => isAlive(pid) && kill.call(process, pid, 'SIGKILL'));
  t.mock.method(
    process,
    'kill',
    (to: number, signal?: string | number) => signal !== 0 || kill.call(process, to, signal),
  );
  stop.abort();
  await stopped;
  await adapter[Symbol.asyncDispose]();
  assert.deepEqual(
    logged().flatMap(({ msg, pid }) => (String(msg).includes('could not be ended') ? [pid] : [])),
    [pid],
  );
});

test('what a program leaves behind that ends by itself is its own, and is not ended', async (t) => {
  const scripts = new Scripts(t);
  const run = [scripts.write('run', 'sleep 1000 > /dev/null 2>&1 & echo $! > pids')];
  const { deliver, adapter } = startCommand(t, scripts, { run });
  assert.equal(await deliver(), 'accepted');
  await adapter[Symbol.asyncDispose]();
  const [left = 0] = await pidsOf(scripts);
  assert.ok(isAlive(left));
  process.kill(left, 'SIGKILL');
  await poll(() => !isAlive(left), 'the process that was left behind to end');
});

test('a run that nothing could end is not doubled: the next one of its event waits for its end, though it was superseded and accepted', async (t) => {
  const scripts = new Scripts(t);
  const run = [
    scripts.write('run', '[ "$BRIDGE_ATTEMPT" = 1 ] && [ ! -e pid ] || exit 0; echo $$ > pid; exec sleep 1000'),
  ];
  const { deliver } = startCommand(t, scripts, { run }, { time: hurriedTime() });
  const superseded = new AbortController();
  const first = deliver(sampleDelivery({ seq: 1 }), never, superseded.signal);
  const pid = Number(await scripts.line('pid'));
  const { kill } = process;
  t.after(() => isAlive(pid) && kill.call(process, pid, 'SIGKILL'));
  const stuck = t.mock.method(
    process,
    'kill',
    (to: number, signal?: string | number) => signal !== 0 || kill.call(process, to, signal),
  );
  superseded.abort();
  assert.deepEqual(await first, { result: 'accepted', status: 'superseded' });
  assert.match(
    failed(await deliver(sampleDelivery({ seq: 2 }))).message,
    new RegExp(`continues .* end its process group ${pid}`),
  );
  assert.ok(isAlive(pid));
  stuck.mock.restore();
  assert.equal(await deliver(sampleDelivery({ seq: 2 })), 'accepted');
  assert.ok(!isAlive(pid));
});
