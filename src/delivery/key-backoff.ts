// Outcomes by partition key → the keys that must not be fetched now: in flight or backing off.

import type { Delivery } from '../model/deliveries.ts';
import { type Backoff, backoffMs, type Moment } from './backoff.ts';

/** With more failing keys than this the breaker opens, and they are not remembered one by one. */
export const MOST_FAILING_KEYS = 1000;

type Keyed = Pick<Delivery, 'partitionKey'>;

interface KeyState {
  /** In a call, or waiting until its outcome is stored. */
  busy: boolean;
  failures: number;
  /** Elapsed time. */
  dueMs: number;
  /** A recovery of the sink has cut its back-off short since its last success. */
  wasEndedEarly: boolean;
  /** Failed again although the sink accepts other keys: this key, or one batched with it, is the cause. */
  isPoisoned: boolean;
  /** Took its turn as a probe, with a row of an event that had been ended for long, or not. */
  tried: 'alive' | 'long ended' | null;
}

/** Only keys that are busy or failed are remembered; a key that does well costs nothing. */
export class KeyBackoff {
  readonly #keys = new Map<string, KeyState>();
  readonly #held: () => ReadonlySet<string>;

  /** @param held keys that another lane of this sink has in a call: they are busy here, too */
  constructor(held: () => ReadonlySet<string>) {
    this.#held = held;
  }

  isBusy(key: string): boolean {
    return (this.#keys.get(key)?.busy ?? false) || this.#held().has(key);
  }

  /** Keys in a call of this lane, or whose outcome it has not stored yet. */
  busy(): string[] {
    return this.#names((state) => state.busy);
  }

  /** How often in a row the key failed. */
  failuresOf(key: string): number {
    return this.#keys.get(key)?.failures ?? 0;
  }

  /** Whether the key failed once more after the sink took another: in a batch, it may be what the others fail for. */
  isPoisoned(key: string): boolean {
    return this.#keys.get(key)?.isPoisoned ?? false;
  }

  /** How many keys failed and have not been accepted since. */
  get failing(): number {
    let count = 0;
    for (const state of this.#keys.values()) if (state.failures > 0) count += 1;
    return count;
  }

  occupy(rows: readonly Keyed[]): void {
    for (const { partitionKey } of rows) this.#at(partitionKey).busy = true;
  }

  release(rows: readonly Keyed[]): void {
    for (const { partitionKey } of rows) {
      const state = this.#keys.get(partitionKey);
      if (state) state.busy = false;
      if (state?.failures === 0) this.#keys.delete(partitionKey);
    }
  }

  /** The key got on: its failures are forgotten. */
  succeed(key: string): void {
    const state = this.#at(key);
    state.failures = 0;
    state.wasEndedEarly = false;
    state.isPoisoned = false;
  }

  /** Counts a failure of a busy key. @returns how many in a row that makes. */
  fail(key: string, failure: Omit<Backoff, 'failures'>, now: Moment): number {
    const state = this.#at(key);
    state.failures += 1;
    state.isPoisoned ||= state.wasEndedEarly;
    state.dueMs = now.elapsedMs + backoffMs({ ...failure, failures: state.failures }, now.random);
    return state.failures;
  }

  /** Keys that may not be fetched for an ordinary call. */
  blocked(elapsedMs: number): string[] {
    return [...this.#names((state) => state.busy || state.dueMs > elapsedMs), ...this.#held()];
  }

  /** Keys that may not be fetched for a probe. */
  notToProbe(): string[] {
    return [...this.#names((state) => state.busy || state.tried !== null), ...this.#held()];
  }

  /** Those, and the keys that failed. */
  notToProbeFirst(): string[] {
    return [...this.#names((state) => state.busy || state.tried !== null || state.failures > 0), ...this.#held()];
  }

  /** The key takes its turn as a probe; null: nothing came of it, the turn is still its own. */
  markTried(key: string, tried: 'alive' | 'long ended' | null): void {
    this.#at(key).tried = tried;
  }

  /** Whether a key that took its turn belongs to an event that had not been ended for long. */
  get hasTriedAlive(): boolean {
    for (const state of this.#keys.values()) if (state.tried === 'alive') return true;
    return false;
  }

  /** Every key may be probed again. @returns false where none had been tried. */
  newRound(): boolean {
    let any = false;
    for (const state of this.#keys.values()) {
      any ||= state.tried !== null;
      state.tried = null;
    }
    return any;
  }

  /** Whether so many keys fail that it is no use to remember them one by one. */
  get isFull(): boolean {
    return this.#keys.size >= MOST_FAILING_KEYS;
  }

  /** Forgets every failure. */
  forget(): void {
    for (const [key, state] of this.#keys) if (!state.busy) this.#keys.delete(key);
  }

  /**
   * The sink works again: keys that back off may go at once. One that could go early before and failed since keeps its own back-off:
   * this key is the cause, and the others must not wait for it at each recovery.
   */
  endBackOffs(): void {
    for (const state of this.#keys.values()) {
      state.tried = null;
      if (state.busy || state.failures === 0 || state.isPoisoned) continue;
      state.dueMs = 0;
      state.wasEndedEarly = true;
    }
  }

  /** The queue was read to its end: a key that could have gone and was not there has no rows. */
  forgetAbsent(elapsedMs: number): void {
    for (const [key, state] of this.#keys) if (!state.busy && state.dueMs <= elapsedMs) this.#keys.delete(key);
  }

  /** When (elapsed time) the next key that backs off may go; null where none does. */
  nextDueMs(elapsedMs: number): number | null {
    let next = Number.POSITIVE_INFINITY;
    for (const state of this.#keys.values()) if (!state.busy && state.dueMs > elapsedMs) next = Math.min(next, state.dueMs);
    return Number.isFinite(next) ? next : null;
  }

  #at(key: string): KeyState {
    let state = this.#keys.get(key);
    if (!state) {
      state = { busy: false, failures: 0, dueMs: 0, wasEndedEarly: false, isPoisoned: false, tried: null };
      this.#keys.set(key, state);
    }
    return state;
  }

  #names(where: (state: KeyState) => boolean): string[] {
    const names: string[] = [];
    for (const [key, state] of this.#keys) if (where(state)) names.push(key);
    return names;
  }
}
