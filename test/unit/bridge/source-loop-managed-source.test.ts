// A source that receives → the end that the bridge adds: what runs ends, and nothing begins.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalSource } from '../../../adapters/approval-source.ts';
import { manageSource } from '../../../src/bridge/source-loop.ts';

const never = new AbortController().signal;
const CLOSED = { code: 'BRIDGE_ADAPTER_CLOSED', message: 'source ops is closed: the bridge is stopping' };

/** Rejects with an error of its own once its signal aborts, and only when the test lets go. */
function setUp() {
  const log: string[] = [];
  const held = Promise.withResolvers<void>();
  const untilAborted = async (signal: AbortSignal): Promise<never> => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    log.push('aborted');
    await held.promise;
    throw new Error('cut off');
  };
  const source: ApprovalSource = {
    canGiveBack: true,
    check: untilAborted,
    receive: (_, signal) => untilAborted(signal),
    close: () => void log.push('close'),
  };
  return { log, held, managed: manageSource(source, 'ops') };
}

test('disposal aborts what runs, waits for its end, closes once, and refuses what comes later', async () => {
  const { log, held, managed } = setUp();
  const ended = [
    managed.check(never),
    managed.receive(
      async () => 'settle',
      never,
      () => {},
    ),
  ].map((call) => assert.rejects(call, CLOSED));
  const closing = [managed[Symbol.asyncDispose](), managed[Symbol.asyncDispose]()];
  await assert.rejects(managed.check(never), CLOSED);
  await assert.rejects(
    managed.receive(
      async () => 'settle',
      never,
      () => {},
    ),
    CLOSED,
  );
  assert.deepEqual(log, ['aborted', 'aborted']);
  held.resolve();
  await Promise.all([...ended, ...closing]);
  assert.deepEqual(log, ['aborted', 'aborted', 'close']);
});

test('after an abort it rejects with the reason of the signal, for any error of the source', async () => {
  const { held, managed } = setUp();
  const controller = new AbortController();
  const reason = new Error('enough');
  const ended = assert.rejects(
    managed.receive(
      async () => 'settle',
      controller.signal,
      () => {},
    ),
    (error) => error === reason,
  );
  controller.abort(reason);
  held.resolve();
  await ended;
});
