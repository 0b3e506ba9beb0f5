// An adapter whose far side is a function of the test: what it is asked, what it answers and when.

import type { AdapterLimits, Outcome, Preparation } from '../../adapters/adapter.ts';
import type { ManagedAdapter } from '../../src/delivery/managed-adapter.ts';
import type { BridgeErrorDetails } from '../../src/errors.ts';
import { BridgeError } from '../../src/errors.ts';
import type { Delivery } from '../../src/model/deliveries.ts';

export type Answer = (
  batch: readonly Delivery[],
  signal: AbortSignal,
  superseded?: AbortSignal,
) => readonly Outcome[] | Promise<readonly Outcome[]>;

/** A failure as an adapter reports it. */
export function failure(
  details: BridgeErrorDetails = { disposition: 'retry' },
  message = 'the far side failed',
): BridgeError {
  return new BridgeError('BRIDGE_INTERNAL', message, details);
}

export const accept: Answer = (batch) => batch.map(() => 'accepted');

/** Every member of every batch comes out as `outcome`. */
export function always(outcome: Outcome): Answer {
  return (batch) => batch.map(() => outcome);
}

/** Never answers, and rejects when it is aborted, as the adapter contract asks. */
export const hang: Answer = (_, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

export class ScriptedAdapter implements ManagedAdapter {
  /** A test may change them at any time. */
  limits: AdapterLimits;
  declare preparation?: Preparation;
  declare start?: () => Promise<void>;
  answer: Answer;
  disposed = 0;
  onDispose: () => Promise<void> = async () => {};
  /** The ids of each call, in the order in which they began. */
  readonly calls: string[][] = [];
  readonly #running = new Set<readonly Delivery[]>();
  mostRunning = 0;
  /** Keys that were in two calls at once. */
  readonly overlaps: string[] = [];

  constructor(answer: Answer = accept, limits: Partial<AdapterLimits> = {}) {
    this.answer = answer;
    this.limits = { inFlight: 4, batch: 1, batchBytes: 65_536, ...limits };
  }

  async check(): Promise<null> {
    return null;
  }

  async deliver(
    batch: readonly Delivery[],
    signal: AbortSignal,
    superseded?: AbortSignal,
  ): Promise<readonly Outcome[]> {
    for (const other of this.#running) {
      const shared = batch.find((row) => other.some((running) => running.partitionKey === row.partitionKey));
      if (shared) this.overlaps.push(shared.partitionKey);
    }
    this.calls.push(batch.map(({ id }) => id));
    this.#running.add(batch);
    this.mostRunning = Math.max(this.mostRunning, this.#running.size);
    try {
      return await this.answer(batch, signal, superseded);
    } finally {
      this.#running.delete(batch);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.disposed += 1;
    await this.onDispose();
  }
}
