// One sink's outcomes → its state as a whole: held, open and probed, misconfigured, retired.

import type { BridgeError, Disposition } from '../errors.ts';
import type { LaneState } from '../model/deliveries.ts';
import { backoffMs, LIVE_CAP_MS, type Moment } from './backoff.ts';

/** After so many different keys failed in a row, without a success, the sink as a whole fails: the breaker opens. */
const KEYS_THAT_OPEN = 3;
const LONGEST_HOLD_MS = 3_600_000;

/** Rows wait although nothing is wrong. */
export interface Hold {
  readonly reason: string;
  /** Elapsed time; null where a running request has to end first. */
  readonly untilMs: number | null;
}

export interface SinkState {
  readonly state: LaneState;
  readonly reason: string | null;
  /** While held, until when (elapsed time), where that is known. */
  readonly untilMs: number | null;
}

/** What a failure changed. */
export type BreakerNews = 'open' | 'misconfigured';

interface Opening {
  /** Failed probes in a row, the failures that opened it counting as the first. */
  failures: number;
  dueMs: number;
  disposition: Disposition;
  /** Whether only events are queued that ended long ago. */
  longEnded: boolean;
  /** The last failure asks to be tried again so soon. */
  withinMs: number | undefined;
}

export class CircuitBreaker {
  readonly #streak = new Set<string>();
  #opening: Opening | null = null;
  #heldUntilMs = 0;
  #misconfigured = false;
  #retired: { readonly reason: string; readonly untilRestart: boolean } | null = null;
  #lastFailure: string | null = null;
  #hasProbedUrgent = false;

  get isRetired(): boolean {
    return this.#retired !== null;
  }

  /** Retired in a way that can be lifted while this process runs. */
  get canResume(): boolean {
    return this.#retired !== null && !this.#retired.untilRestart;
  }

  get isOpen(): boolean {
    return this.#opening !== null;
  }

  /** Until when (elapsed time) nothing may be sent; while it is open, until its next probe. */
  get blockedUntilMs(): number {
    return Math.max(this.#heldUntilMs, this.#opening?.dueMs ?? 0);
  }

  /** A probe goes out; its failure is backed off for the most urgent of what is queued. */
  probing({ isUrgent, longEnded }: { readonly isUrgent: boolean; readonly longEnded: boolean }): void {
    this.#hasProbedUrgent = isUrgent;
    if (this.#opening) this.#opening.longEnded = longEnded;
  }

  /** Whether the last probe was of an urgent event. */
  get hasProbedUrgent(): boolean {
    return this.#hasProbedUrgent;
  }

  /** Urgent rows wait: the next probe comes within so long, unless somebody has to correct something. */
  probeWithin(ms: number, now: Moment): void {
    if (!this.#opening || this.#opening.disposition === 'misconfigured' || this.#opening.dueMs <= now.elapsedMs + ms) return;
    this.#opening.dueMs = now.elapsedMs + now.random() * ms;
  }

  /** New rows are queued: a probe that waits for events that ended long ago is due as for a live one. */
  probeSooner(now: Moment): void {
    if (!this.#opening || this.#opening.dueMs <= now.elapsedMs + LIVE_CAP_MS) return;
    this.#opening.dueMs = now.elapsedMs + now.random() * LIVE_CAP_MS;
  }

  /** A delivery was accepted. @returns what had been wrong and is over. */
  succeed(): readonly BreakerNews[] {
    const over: BreakerNews[] = [];
    if (this.#opening) over.push('open');
    if (this.#misconfigured) over.push('misconfigured');
    this.#streak.clear();
    this.#opening = null;
    this.#misconfigured = false;
    return over;
  }

  /**
   * A key failed: `key` is null where others of the same call were accepted, which shows that the sink takes; `probe` where the call was
   * one. @returns what began by it.
   */
  fail(key: string | null, error: BridgeError, probe: boolean, now: Moment): readonly BreakerNews[] {
    const news: BreakerNews[] = [];
    const disposition = error.disposition ?? 'retry';
    this.#lastFailure = error.message;
    if (error.retryAfterMs !== undefined) {
      this.#heldUntilMs = Math.max(this.#heldUntilMs, now.elapsedMs + Math.min(error.retryAfterMs, LONGEST_HOLD_MS));
    }
    if (disposition === 'misconfigured' && !this.#misconfigured) {
      this.#misconfigured = true;
      news.push('misconfigured');
    }
    if (key !== null) this.#streak.add(key);
    if (this.#opening) {
      if (probe) this.#back(this.#opening, error, now);
    } else if (error.scope === 'sink' || this.#streak.size >= KEYS_THAT_OPEN) {
      this.open(error, now);
      news.push('open');
    }
    return news;
  }

  /** From now on one delivery at a time, until one is accepted. */
  open(error: BridgeError, now: Moment): void {
    this.#opening = { failures: 0, dueMs: 0, disposition: 'retry', longEnded: false, withinMs: undefined };
    this.#back(this.#opening, error, now);
    this.#streak.clear();
  }

  /** A probe was refused, which says nothing of the sink: the next one comes after the same wait. */
  again(now: Moment): void {
    if (this.#opening) this.#wait(this.#opening, now);
  }

  retire(reason: string, untilRestart: boolean): void {
    this.#retired = { reason, untilRestart };
  }

  /** The retirement was lifted: any other trouble from before has to show again. */
  resume(): void {
    this.succeed();
    this.#retired = null;
    this.#heldUntilMs = 0;
    this.#lastFailure = null;
  }

  /** What an operator is to know first, and why. `failing`: keys that back off; `hold`: the lane's own rate keeps rows waiting. */
  state(elapsedMs: number, failing: number, hold: Hold | null): SinkState {
    const reason = this.#lastFailure;
    if (this.#retired !== null) return { state: 'retired', reason: this.#retired.reason, untilMs: null };
    if (this.#misconfigured) return { state: 'misconfigured', reason, untilMs: null };
    if (elapsedMs < this.#heldUntilMs) return { state: 'held', reason, untilMs: this.#heldUntilMs };
    if (this.#opening) return { state: 'probing', reason, untilMs: null };
    if (hold !== null) return { state: 'held', ...hold };
    if (failing > 0) return { state: 'backing off', reason, untilMs: null };
    return { state: 'delivering', reason: null, untilMs: null };
  }

  #back(opening: Opening, { disposition = 'retry', retryWithinMs }: BridgeError, now: Moment): void {
    opening.failures += 1;
    opening.disposition = disposition;
    opening.withinMs = retryWithinMs;
    this.#wait(opening, now);
  }

  #wait(opening: Opening, now: Moment): void {
    opening.dueMs = now.elapsedMs + backoffMs(opening, now.random);
  }
}
