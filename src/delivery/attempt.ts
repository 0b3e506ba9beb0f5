// A batch → one outcome for each member, whatever the adapter does or fails to do.

import type { Outcome } from '../../adapters/adapter.ts';
import { BridgeError } from '../errors.ts';
import type { Delivery } from '../model/deliveries.ts';
import { type Deps, deadline } from '../time/clock.ts';
import type { ManagedAdapter } from './managed-adapter.ts';

/** An adapter has time limits of its own; this one ends a call that none of them ended, where its limits name no other. */
const ATTEMPT_LIMIT_MS = 300_000;

/** What only an adapter with a mistake in it brings about. */
const CONTRACT_BREACHES: ReadonlySet<string> = new Set(['BRIDGE_DELIVERY_FAILED', 'BRIDGE_DELIVERY_OUTCOMES', 'BRIDGE_DELIVERY_TIMEOUT']);

export function isContractBreach(error: BridgeError): boolean {
  return CONTRACT_BREACHES.has(error.code);
}

export interface Signals {
  /** Aborts the call. */
  readonly signal: AbortSignal;
  /** Its event has changed, started or ended: absent where the sink does not cancel. */
  readonly overtaken?: AbortSignal | undefined;
}

/** One call of `deliver`. Never rejects; null where `signal` aborted it, so that nothing is known of its members. */
export async function attempt(
  adapter: ManagedAdapter,
  sink: string,
  batch: readonly Delivery[],
  deps: Pick<Deps, 'after'>,
  { signal, overtaken }: Signals,
): Promise<readonly Outcome[] | null> {
  const limitMs = adapter.limits.callMs ?? ATTEMPT_LIMIT_MS;
  const limit = deadline(deps, limitMs, () => timedOut(sink, limitMs), signal);
  try {
    const outcomes = await Promise.race([adapter.deliver(batch, limit.signal, overtaken), rejectOnAbort(limit.signal)]);
    return outcomes.length === batch.length ? outcomes : batch.map(() => miscounted(sink, batch.length, outcomes.length));
  } catch (error) {
    if (signal.aborted) return null;
    const failure = limit.signal.aborted ? timedOut(sink, limitMs) : broken(sink, error);
    return batch.map(() => failure);
  } finally {
    limit.cancel();
  }
}

/** One run of the adapter's preparation. Never rejects; null where it went well, or there is none. */
export async function prepare(
  adapter: ManagedAdapter,
  sink: string,
  deps: Pick<Deps, 'after'>,
  signal: AbortSignal,
): Promise<BridgeError | 'aborted' | null> {
  const limit = deadline(deps, ATTEMPT_LIMIT_MS, () => timedOut(sink, ATTEMPT_LIMIT_MS), signal);
  try {
    await Promise.race([adapter.preparation?.run(limit.signal), rejectOnAbort(limit.signal)]);
    return null;
  } catch (error) {
    if (signal.aborted) return 'aborted';
    return error instanceof BridgeError ? error : broken(sink, error);
  } finally {
    limit.cancel();
  }
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function timedOut(sink: string, limitMs: number): BridgeError {
  return new BridgeError(
    'BRIDGE_DELIVERY_TIMEOUT',
    `delivery to sink ${sink} had not ended after ${Math.round(limitMs / 6000) / 10} min and was given up; it will be tried again`,
    { disposition: 'retry' },
  );
}

function miscounted(sink: string, members: number, outcomes: number): BridgeError {
  return new BridgeError(
    'BRIDGE_DELIVERY_OUTCOMES',
    `the adapter of sink ${sink} gave ${outcomes} outcomes for ${members} deliveries; all of them will be tried again; please report it`,
    { disposition: 'retry' },
  );
}

/** An adapter's exception may hold anything: only its kind is shown. */
function broken(sink: string, cause: unknown): BridgeError {
  if (cause instanceof BridgeError) {
    const { status, retryAfterMs, scope } = cause;
    return new BridgeError('BRIDGE_DELIVERY_FAILED', `the adapter of sink ${sink} failed: ${cause.message}; it will be tried again`, {
      cause,
      disposition: 'retry',
      scope,
      ...(status === undefined ? {} : { status }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }
  const kind = cause instanceof Error ? cause.name : typeof cause;
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return new BridgeError('BRIDGE_DELIVERY_FAILED', `the adapter of sink ${sink} failed with a ${kind}${code}; it will be tried again`, {
    cause,
    disposition: 'retry',
  });
}
