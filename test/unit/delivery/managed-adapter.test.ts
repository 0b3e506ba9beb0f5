// An adapter that answers when told → what the engine adds: aborts, failure outcomes, the end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Adapter, Outcome } from '../../../adapters/adapter.ts';
import {
  broken,
  isContractBreach,
  manageAdapter,
  miscounted,
  timedOut,
} from '../../../src/delivery/managed-adapter.ts';
import { BridgeError } from '../../../src/errors.ts';
import { sampleDelivery } from '../../adapters/sample-deliveries.ts';
import { settle } from '../../virtual/virtual-time.ts';

const never = new AbortController().signal;
const BATCH = [sampleDelivery({ seq: 1 }), sampleDelivery({ seq: 2 })];

/** Calls wait until the test settles them. */
function setUp() {
  const log: string[] = [];
  const held = Promise.withResolvers<void>();
  const answer = async <T>(name: string, value: T): Promise<T> => {
    log.push(name);
    await held.promise;
    return value;
  };
  const adapter: Adapter = {
    limits: { inFlight: 1, batch: 2, batchBytes: 1024 },
    preparation: { isNeeded: true, run: () => answer('run', undefined) },
    check: () => answer('check', 'found'),
    deliver: (batch) =>
      answer(
        'deliver',
        batch.map((): Outcome => 'accepted'),
      ),
    close: () => void log.push('close'),
  };
  return { log, held, adapter, managed: manageAdapter(adapter, 'hooks') };
}

test('what the start of the adapter has to end is ended before it is closed', async () => {
  const { log, held, adapter } = setUp();
  const start = async () => {
    await held.promise;
    log.push('started');
  };
  const managed = manageAdapter({ ...adapter, start }, 'hooks');
  void managed.start?.();
  const disposed = managed[Symbol.asyncDispose]();
  await settle();
  assert.deepEqual(log, []);
  held.resolve();
  await disposed;
  assert.deepEqual(log, ['started', 'close']);
});

test('a signal that has aborted is answered with its reason, and the adapter is not asked', async () => {
  const { log, managed } = setUp();
  const signal = AbortSignal.abort('too late');
  for (const call of [
    () => managed.check(signal),
    () => managed.deliver(BATCH, signal),
    async () => managed.preparation?.run(signal),
  ])
    await assert.rejects(call, (reason) => reason === 'too late');
  assert.deepEqual(log, []);
});

test('whatever an adapter rejects with after an abort, the reason of the signal comes out', async () => {
  const { held, managed } = setUp();
  const controller = new AbortController();
  const reason = new Error('the bridge is stopping');
  const calls = [
    managed.check(controller.signal),
    managed.deliver(BATCH, controller.signal),
    managed.preparation?.run(controller.signal),
  ];
  const ended = Promise.all(
    calls.map((call) =>
      assert.rejects(
        async () => call,
        (error) => error === reason,
      ),
    ),
  );
  controller.abort(reason);
  held.reject(new BridgeError('BRIDGE_INTERNAL', 'cut off', { disposition: 'retry' }));
  await ended;
});

test('a BridgeError that deliver throws is the outcome of all members; anything else rejects', async () => {
  const { adapter } = setUp();
  const failure = new BridgeError('BRIDGE_INTERNAL', 'not now', { disposition: 'retry' });
  const failing = (error: Error) => manageAdapter({ ...adapter, deliver: () => Promise.reject(error) }, 'hooks');
  assert.deepEqual(await failing(failure).deliver(BATCH, never), [failure, failure]);
  await assert.rejects(failing(new TypeError('a mistake')).deliver(BATCH, never), TypeError);
});

test('it closes once, after all that runs has ended, and refuses what comes after the first call', async () => {
  const { log, held, managed } = setUp();
  const running = [managed.check(never), managed.deliver(BATCH, never), managed.preparation?.run(never)];
  const closing = [managed[Symbol.asyncDispose](), managed[Symbol.asyncDispose]()];
  const closed = {
    code: 'BRIDGE_ADAPTER_CLOSED',
    message: 'sink hooks is closed: the bridge is stopping, and delivers this after its next start',
  };
  await assert.rejects(managed.check(never), closed);
  await assert.rejects(async () => managed.preparation?.run(never), closed);
  const [first, second] = await managed.deliver(BATCH, never);
  assert.ok(first instanceof BridgeError && first === second);
  assert.deepEqual([first.code, first.disposition, first.scope], [closed.code, 'retry', 'sink']);
  assert.deepEqual(log, ['check', 'deliver', 'run']);
  held.resolve();
  assert.deepEqual(await Promise.all(running), ['found', ['accepted', 'accepted'], undefined]);
  await Promise.all(closing);
  assert.deepEqual(log, ['check', 'deliver', 'run', 'close']);
});

test('limits are asked each time, and an adapter without a preparation has none', () => {
  const { adapter } = setUp();
  let perMinute = 1;
  const { preparation: _, ...plain } = adapter;
  const managed = manageAdapter(
    {
      ...plain,
      get limits() {
        return { ...adapter.limits, perMinute: perMinute++ };
      },
    },
    'hooks',
  );
  assert.deepEqual([managed.limits.perMinute, managed.limits.perMinute], [1, 2]);
  assert.equal(managed.preparation, undefined);
});

test('a preparation that has succeeded is no longer needed, and what runs is shown if the adapter can tell', async () => {
  const { adapter } = setUp();
  let isNeeded = true;
  const preparation = {
    get isNeeded() {
      return isNeeded;
    },
    run: async () => {
      isNeeded = false;
    },
  };
  const work = { seq: 1, eventId: null, sinceMs: 5, attempt: 1, last: null };
  const managed = manageAdapter({ ...adapter, preparation, running: () => [work] }, 'hooks');
  assert.equal(managed.preparation?.isNeeded, true);
  await managed.preparation?.run(never);
  assert.equal(managed.preparation?.isNeeded, false);
  assert.deepEqual(managed.running?.(), [work]);
  assert.equal(manageAdapter(adapter, 'hooks').running, undefined);
});

test('a broken contract of an adapter is named with its sink, is retried, and shows only the kind of an exception', () => {
  const coded = Object.assign(new TypeError('secret'), { code: 'ERR_X' });
  const breaches = [
    timedOut('hooks', 90_000),
    miscounted('hooks', 3, 2),
    broken('hooks', coded),
    broken('hooks', new RangeError('secret')),
    broken('hooks', 'secret'),
  ];
  assert.deepEqual(
    breaches.map(({ code, message, disposition }) => [code, message, disposition]),
    [
      [
        'BRIDGE_DELIVERY_TIMEOUT',
        'delivery to sink hooks had not ended after 1.5 min and was given up; it will be tried again',
        'retry',
      ],
      [
        'BRIDGE_DELIVERY_OUTCOMES',
        'the adapter of sink hooks gave 2 outcomes for 3 deliveries; all of them will be tried again; please report it',
        'retry',
      ],
      [
        'BRIDGE_DELIVERY_FAILED',
        'the adapter of sink hooks failed with a TypeError (ERR_X); it will be tried again',
        'retry',
      ],
      ['BRIDGE_DELIVERY_FAILED', 'the adapter of sink hooks failed with a RangeError; it will be tried again', 'retry'],
      ['BRIDGE_DELIVERY_FAILED', 'the adapter of sink hooks failed with a string; it will be tried again', 'retry'],
    ],
  );
  assert.equal(breaches[2]?.cause, coded);
  assert.ok(breaches.every(isContractBreach));
  assert.equal(isContractBreach(new BridgeError('BRIDGE_INTERNAL', 'not now', { disposition: 'retry' })), false);
});
