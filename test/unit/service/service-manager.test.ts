// src/service/service-manager.ts in virtual time: what systemd is told, and when nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceManager } from '../../../src/service/service-manager.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

const LIMITS = { timeoutMs: 10_000, firstTimeoutMs: 130_000, pollIntervalMs: 1000 };
const PID = 4711;

/** `told` holds each message; `words.now` is the state. Slow messages go through one by one, at `pass`. */
function start(env: Readonly<Record<string, string>> = {}, { isSlow = false } = {}) {
  const time = new VirtualTime();
  const told: string[] = [];
  const underWay: (() => void)[] = [];
  const notifier = {
    get isBusy() {
      return underWay.length > 0;
    },
    send: async (assignments: readonly string[]) => {
      told.push(assignments.join(' '));
      if (isSlow) await new Promise<void>((resolve) => underWay.push(resolve));
    },
  };
  const pass = async () => {
    underWay.shift()?.();
    await time.advance(0);
  };
  const words = { now: 'waiting' };
  const manager = new ServiceManager({ env, pid: PID, notifier, limits: LIMITS, deps: time });
  manager.describe(() => words.now);
  return { time, told, pass, words, manager };
}

/** A poll each second for so long, each with a document. */
async function polls({ time, manager }: ReturnType<typeof start>, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    manager.begins();
    manager.asks();
    manager.ended(true);
    await time.advance(1000);
  }
}

test('ready once, when the first request is sent, before its answer', async () => {
  const { told, manager } = start();
  manager.begins();
  assert.deepEqual(told, []);
  manager.asks();
  assert.deepEqual(told, ['READY=1 STATUS=waiting']);
  manager.ended(true);
  manager.begins();
  manager.asks();
  assert.equal(told.length, 1);
});

test('ready after a failed first poll if no request can be sent, for example without an address', () => {
  const { told, manager } = start();
  manager.begins();
  manager.ended(false);
  assert.deepEqual(told, ['READY=1 STATUS=waiting']);
});

test('the status is sent when it changes, after a message that is being sent', async () => {
  const { told, words, pass, manager } = start({}, { isSlow: true });
  manager.asks();
  words.now = 'watching: 0 events listed';
  manager.ended(true);
  assert.equal(told.length, 1);
  await pass();
  assert.equal(told.length, 2);
  words.now = 'watching: 2 events listed';
  manager.ended(true);
  words.now = 'watching: 1 event listed';
  await pass();
  await pass();
  manager.ended(true);
  assert.deepEqual(told, [
    'READY=1 STATUS=waiting',
    'STATUS=watching: 0 events listed',
    'STATUS=watching: 1 event listed',
  ]);
});

test('the watchdog message is sent more than twice per period while polls continue', async () => {
  const started = start({ WATCHDOG_USEC: '6000000', WATCHDOG_PID: String(PID) });
  await polls(started, 30);
  const count = started.told.filter((message) => message === 'WATCHDOG=1').length;
  assert.ok(count >= 14 && count <= 15, String(count));
});

test('no watchdog message is sent after half a period without progress of polls; then again with progress', async () => {
  const started = start({ WATCHDOG_USEC: '6000000' });
  await polls(started, 6);
  const before = started.told.length;
  await started.time.advance(60_000);
  assert.ok(started.told.length - before <= 2, started.told.join());
  const silent = started.told.length;
  await polls(started, 6);
  assert.ok(started.told.length > silent);
});

test('watchdog messages continue while an answer of the metadata service is pending', async () => {
  const { time, told, manager } = start({ WATCHDOG_USEC: '6000000' });
  manager.begins();
  manager.asks();
  await time.advance(60_000);
  assert.ok(told.filter((message) => message === 'WATCHDOG=1').length >= 28, String(told.length));
});

for (const [what, env] of [
  ['is unset', {}],
  ['is no number', { WATCHDOG_USEC: 'soon' }],
  ['is 0', { WATCHDOG_USEC: '0' }],
  ['is for another process', { WATCHDOG_USEC: '6000000', WATCHDOG_PID: '1' }],
] as const) {
  test(`no watchdog message is sent if WATCHDOG_USEC ${what}`, async () => {
    const started = start(env);
    await polls(started, 30);
    assert.deepEqual(started.told, ['READY=1 STATUS=waiting']);
    assert.equal(started.time.pending, 0);
  });
}

test('undelivered messages do not accumulate', async () => {
  const { time, told, manager } = start({ WATCHDOG_USEC: '6000000' }, { isSlow: true });
  manager.begins();
  manager.asks();
  await time.advance(60_000);
  assert.deepEqual(told, ['READY=1 STATUS=waiting', 'WATCHDOG=1']);
});

test('the stop is reported, and nothing after it', async () => {
  const { time, told, words, manager } = start({ WATCHDOG_USEC: '6000000' });
  manager.asks();
  await manager.stopping();
  words.now = 'watching';
  manager.asks();
  manager.ended(true);
  await time.advance(60_000);
  assert.deepEqual(told, ['READY=1 STATUS=waiting', 'STOPPING=1 STATUS=stopping: waiting for running deliveries']);
});

test('the start and the end of a reload are reported, even if it was rejected, but not before the bridge is ready', async () => {
  const { told, manager } = start();
  await manager.reloading(async () => {});
  assert.deepEqual(told, []);
  manager.begins();
  manager.asks();
  let during: readonly string[] = [];
  await manager.reloading(async () => {
    during = told.slice(1);
    throw new Error('refused');
  });
  assert.deepEqual(during, ['RELOADING=1']);
  assert.deepEqual(told.slice(1), ['RELOADING=1', 'READY=1 STATUS=waiting']);
});

test('a storm of reloads is reported once: RELOADING=1 at its start and READY=1 at its end', async () => {
  const { told, manager, time } = start();
  manager.begins();
  manager.asks();
  const first = Promise.withResolvers<void>();
  const later = Promise.withResolvers<void>();
  const reloads = [first, later, later, later].map(({ promise }) => manager.reloading(() => promise));
  first.resolve();
  await time.advance(0);
  assert.deepEqual(told.slice(1), ['RELOADING=1']);
  later.reject(new Error('refused'));
  await Promise.all(reloads);
  assert.deepEqual(told.slice(1), ['RELOADING=1', 'READY=1 STATUS=waiting']);
  await manager.reloading(async () => {});
  assert.deepEqual(told.slice(3), ['RELOADING=1', 'READY=1 STATUS=waiting']);
});

test('no READY=1 follows a reload if the bridge stops meanwhile', async () => {
  const { told, manager } = start();
  manager.begins();
  manager.asks();
  await manager.reloading(() => manager.stopping());
  assert.equal(told.at(-1), 'STOPPING=1 STATUS=stopping: waiting for running deliveries');
});
