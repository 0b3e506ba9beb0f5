// One source on virtual time → when it receives again, what is told of that, and how it ends.
import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import type { MessageVerdict } from '../../../adapters/approval-source.ts';
import type { ManagedSource } from '../../../src/bridge/source-loop.ts';
import { SourceLoop, type SourceLoopParts } from '../../../src/bridge/source-loop.ts';
import { BridgeError } from '../../../src/errors.ts';
import { MemoryBroker, sourceAway } from '../../virtual/memory-source.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';

interface Fixture {
  readonly time: VirtualTime;
  readonly loop: SourceLoop;
  readonly stop: AbortController;
  /** Levels and messages. */
  readonly log: string[];
  /** When `receive` was called, in elapsed time. */
  readonly calls: number[];
}

type Receive = ManagedSource['receive'];

/** `receive` and `dispose` are the source's, `take` the approvals'. */
function setUp(
  receive: Receive,
  more: { dispose?: () => Promise<void>; take?: () => Promise<MessageVerdict>; canGiveBack?: boolean } = {},
): Fixture {
  const time = new VirtualTime();
  const stop = new AbortController();
  const [log, calls]: [string[], number[]] = [[], []];
  const write = (line: string) => {
    const { level, msg } = JSON.parse(line) as { level: number; msg: string };
    log.push(`${level} ${msg}`);
  };
  const source: ManagedSource = {
    canGiveBack: true,
    check: async () => null,
    receive: (take, signal, ready) => {
      calls.push(time.elapsedMs());
      return receive(take, signal, ready);
    },
    [Symbol.asyncDispose]: more.dispose ?? (async () => {}),
  };
  const parts: SourceLoopParts = {
    source,
    origin: { source: 'topic', approver: 'ops', canGiveBack: more.canGiveBack ?? false },
    approvals: { take: more.take ?? (async () => 'settle'), ready: Promise.resolve() },
    deps: time,
    logger: pino({ level: 'info' }, { write }),
    stop: stop.signal,
  };
  return { time, loop: new SourceLoop(parts), stop, log, calls };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

test('it is up from ready to the first failure', async () => {
  let fail: (error: Error) => void = () => {};
  const { time, loop } = setUp((_take, _signal, ready) => {
    ready();
    return new Promise((_, reject) => {
      fail = reject;
    });
  });
  await time.advance(0);
  assert.equal(loop.isUp, true);
  fail(sourceAway());
  await time.advance(0);
  assert.equal(loop.isUp, false);
  await time.advance(10_000);
  assert.equal(loop.isUp, true);
});

test('one that fails as soon as it is ready is not hammered', async () => {
  const { time, calls } = setUp(async (_take, _signal, ready) => {
    ready();
    throw sourceAway();
  });
  await time.advance(600_000);
  assert.ok(calls.length < 150, `${calls.length} calls in ten minutes`);
});

test('one that received for a while is tried again soon', async () => {
  const { time, calls } = setUp(async (_take, _signal, ready) => {
    ready();
    await new Promise<void>((resolve) => time.after(60_000, resolve));
    throw sourceAway();
  });
  await time.advance(600_000);
  const pauses = calls.slice(1).map((at, index) => at - (calls[index] ?? 0) - 60_000);
  assert.ok(Math.max(...pauses) <= 250, pauses.join(' '));
});

test('a fault that a person must fix is retried slowly, at most 10 s apart', async () => {
  const misconfigured = new BridgeError('BRIDGE_DELIVERY_FAILED', 'no such topic', { disposition: 'misconfigured' });
  const { time, calls } = setUp(() => Promise.reject(misconfigured));
  await time.advance(600_000);
  const pauses = calls.slice(1).map((at, index) => at - (calls[index] ?? 0));
  assert.ok(Math.max(...pauses) <= 10_000 && calls.length < 200, pauses.join(' '));
});

test('a source that ends without an error, or breaks the contract, is received from again', async () => {
  const { time, calls, log } = setUp(async () => {});
  await time.advance(60_000);
  assert.ok(calls.length > 3);
  assert.equal(log.length, 1);
  assert.match(log[0] ?? '', /^40 the source cannot receive approvals/);
});

test('a message that cannot be stored is not a fault of the source', async () => {
  const broker = new MemoryBroker(() => 0);
  broker.approve('a');
  const never = new AbortController().signal;
  const full = new BridgeError('BRIDGE_STORE_FULL', 'the disk is full');
  const { time, calls, log } = setUp((take, _signal, ready) => broker.read(take, never, ready), {
    take: () => Promise.reject(full),
  });
  await time.advance(60_000);
  assert.ok(calls.length > 3);
  assert.deepEqual([log, broker.verdicts], [[], [null]]);
});

test('a programming error during a message is reported as a failure of the source, unlike a full disk', async () => {
  const broker = new MemoryBroker(() => 0);
  broker.approve('a');
  const never = new AbortController().signal;
  const mistake = new TypeError('a mistake');
  const { time, log } = setUp((take, _signal, ready) => broker.read(take, never, ready), {
    take: () => Promise.reject(mistake),
  });
  await time.advance(1_000);
  assert.match(log[0] ?? '', /^40 the source cannot receive approvals/);
});

test('once the bridge stops no message is taken, and the source is disposed of', async () => {
  let [taken, disposed] = [0, false];
  const { time, loop, stop } = setUp(
    async (take, signal) => {
      await untilAborted(signal).catch(() => {});
      await take({ id: '1', place: {}, body: null, sentMs: 0 });
    },
    {
      take: async () => {
        taken++;
        return 'settle';
      },
      dispose: async () => {
        disposed = true;
      },
    },
  );
  await time.advance(0);
  stop.abort();
  await loop.close();
  assert.deepEqual([taken, disposed, time.pending], [0, true, 0]);
});

for (const [what, receive] of [
  [
    'a pause between two tries ends with the bridge, and a source that does not close',
    () => Promise.reject(sourceAway()),
  ],
  ['a source that goes on receiving after the abort', () => new Promise<never>(() => {})],
] as const)
  test(`${what} is left behind`, async () => {
    const { time, loop, stop, log } = setUp(receive, { dispose: () => new Promise(() => {}) });
    await time.advance(30_000);
    stop.abort();
    const closed = loop.close();
    await time.advance(2000);
    await closed;
    assert.match(log.at(-1) ?? '', /^40 an approval source was not closed cleanly/);
    assert.equal(time.pending, 0);
  });

test('a shared source is not read before this bridge is ready, and still ends', async () => {
  const time = new VirtualTime();
  const stop = new AbortController();
  let calls = 0;
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  const source: ManagedSource = {
    canGiveBack: true,
    check: async () => null,
    receive: (_take, signal) => {
      calls++;
      return untilAborted(signal);
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const parts = {
    ...{
      source,
      origin: { source: 'queue', approver: 'ops', canGiveBack: true },
      deps: time,
      logger: pino({ level: 'silent' }),
    },
    ...{ approvals: { take: async (): Promise<MessageVerdict> => 'settle', ready }, stop: stop.signal },
  };
  const [loop, early] = [new SourceLoop(parts), new AbortController()];
  const never = new SourceLoop({
    ...parts,
    approvals: { ...parts.approvals, ready: new Promise(() => {}) },
    stop: early.signal,
  });
  await time.advance(60_000);
  assert.equal(calls, 0);
  early.abort();
  await never.close();
  resolve();
  await time.advance(0);
  assert.equal(calls, 1);
  stop.abort();
  await loop.close();
});
