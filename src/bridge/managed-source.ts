// A source of approvals → the same source with uniform aborts and closing.
import type { ApprovalSource } from '../../adapters/approval-source.ts';
import { BridgeError } from '../errors.ts';
import { Running } from '../time/running.ts';

/** A source as the bridge uses it. Disposal aborts running calls, then closes. It may be called twice. */
export interface ManagedSource extends Omit<ApprovalSource, 'close'>, AsyncDisposable {}

/** @param name its name in the configuration, for messages */
export function manageSource(source: ApprovalSource, name: string): ManagedSource {
  const running = new Running();
  const closing = new AbortController();
  let closed: Promise<void> | null = null;
  const run = async <T>(signal: AbortSignal, work: (stop: AbortSignal) => Promise<T>): Promise<T> => {
    const stop = AbortSignal.any([signal, closing.signal]);
    stop.throwIfAborted();
    try {
      return await running.track(work(stop));
    } catch (error) {
      throw stop.aborted ? stop.reason : error;
    }
  };
  return {
    canGiveBack: source.canGiveBack,
    check: (signal) => run(signal, (stop) => source.check(stop)),
    receive: (take, signal, ready) => run(signal, (stop) => source.receive(take, stop, ready)),
    [Symbol.asyncDispose]: () => {
      closing.abort(stopping(name));
      closed ??= running.ended().then(() => source.close());
      return closed;
    },
  };
}

function stopping(name: string): BridgeError {
  const message = `source ${name} is closed: the bridge is stopping`;
  return new BridgeError('BRIDGE_ADAPTER_CLOSED', message, { disposition: 'retry', scope: 'sink' });
}
