// An adapter → the same, with aborts, failures and an end as lanes want them.
import type { Adapter, Outcome, Preparation } from '../../adapters/adapter.ts';
import { BridgeError } from '../errors.ts';
import { Running } from '../time/running.ts';

/** An adapter as lanes and checks use it. Disposal refuses new work, lets running work end, then closes; harmless twice. */
export interface ManagedAdapter extends Omit<Adapter, 'close'>, AsyncDisposable {}

/** @param sink its name, for messages */
export function manageAdapter(adapter: Adapter, sink: string): ManagedAdapter {
  const running = new Running();
  let closing: Promise<void> | null = null;
  /** An abort rejects with the signal's own reason, whatever the adapter makes of it. */
  const run = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    if (closing !== null) throw closed(sink);
    try {
      return await running.track(work());
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
  };
  return {
    get limits() {
      return adapter.limits;
    },
    ...(adapter.preparation && { preparation: managePreparation(adapter.preparation, run) }),
    ...(adapter.start && { start: () => running.track(adapter.start?.() ?? Promise.resolve()) }),
    check: (signal) => run(signal, () => adapter.check(signal)),
    deliver: (batch, signal, overtaken) =>
      run(signal, () => adapter.deliver(batch, signal, overtaken)).catch((error: unknown): readonly Outcome[] => {
        if (signal.aborted || !(error instanceof BridgeError)) throw error;
        return batch.map(() => error);
      }),
    [Symbol.asyncDispose]: () => {
      closing ??= running.ended().then(() => adapter.close());
      return closing;
    },
  };
}

type Run = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

function managePreparation(preparation: Preparation, run: Run): Preparation {
  return {
    get isNeeded() {
      return preparation.isNeeded;
    },
    run: (signal) => run(signal, () => preparation.run(signal)),
  };
}

function closed(sink: string): BridgeError {
  const message = `sink ${sink} is closed: the bridge is stopping, and delivers this after its next start`;
  return new BridgeError('BRIDGE_ADAPTER_CLOSED', message, { disposition: 'retry', scope: 'sink' });
}
