// An adapter → the same, with the aborts, failures and end that a lane needs.
import type { Adapter, Outcome, Preparation } from '../../adapters/adapter.ts';
import { BridgeError } from '../errors.ts';
import { Running } from '../time/running.ts';

/**
 * An adapter as lanes and checks use it. Disposal refuses new work, lets running work end, then closes; harmless twice.
 */
export interface ManagedAdapter extends Omit<Adapter, 'close'>, AsyncDisposable {}

/** @param sink its name, for messages */
export function manageAdapter(adapter: Adapter, sink: string): ManagedAdapter {
  const running = new Running();
  let closing: Promise<void> | null = null;
  const mayBegin = (signal: AbortSignal) => {
    signal.throwIfAborted();
    if (closing !== null) throw closed(sink);
  };
  /** An abort rejects with the signal's own reason, whatever the adapter makes of it. */
  const run = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    mayBegin(signal);
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
    ...(adapter.running && { running: () => adapter.running?.() ?? [] }),
    check: (signal) => run(signal, () => adapter.check(signal)),
    async deliver(batch, signal, superseded): Promise<readonly Outcome[]> {
      try {
        mayBegin(signal);
        return await running.track(adapter.deliver(batch, signal, superseded));
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (!(error instanceof BridgeError)) throw error;
        return batch.map(() => error);
      }
    },
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

/** Only an adapter with a mistake in it causes these. */
const CONTRACT_BREACHES: ReadonlySet<string> = new Set([
  'BRIDGE_DELIVERY_FAILED',
  'BRIDGE_DELIVERY_OUTCOMES',
  'BRIDGE_DELIVERY_TIMEOUT',
]);

export function isContractBreach(error: BridgeError): boolean {
  return CONTRACT_BREACHES.has(error.code);
}

export function timedOut(sink: string, limitMs: number): BridgeError {
  const message = `delivery to sink ${sink} had not ended after ${Math.round(limitMs / 6000) / 10} min and was given up; it will be tried again`;
  return new BridgeError('BRIDGE_DELIVERY_TIMEOUT', message, { disposition: 'retry' });
}

export function miscounted(sink: string, members: number, outcomes: number): BridgeError {
  return new BridgeError(
    'BRIDGE_DELIVERY_OUTCOMES',
    `the adapter of sink ${sink} gave ${outcomes} outcomes for ${members} deliveries; all of them will be tried again; please report it`,
    { disposition: 'retry' },
  );
}

/** An adapter's exception may hold anything: only its kind is shown. */
export function broken(sink: string, cause: unknown): BridgeError {
  const kind = cause instanceof Error ? cause.name : typeof cause;
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return new BridgeError(
    'BRIDGE_DELIVERY_FAILED',
    `the adapter of sink ${sink} failed with a ${kind}${code}; it will be tried again`,
    {
      cause,
      disposition: 'retry',
    },
  );
}
