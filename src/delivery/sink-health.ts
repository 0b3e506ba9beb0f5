// Outcomes of one sink → how the sink as a whole is: held, sick and probed, misconfigured, retired.
import type { BridgeError, Disposition } from '../errors.ts';
import { backoffMs, LIVE_CAP_MS, type Moment } from './backoff.ts';

/** So many different keys that fail in a row, without a success, are a sick sink. */
const KEYS_THAT_MAKE_SICK = 3;
const LONGEST_HOLD_MS = 3_600_000;

export type LaneState = 'delivering' | 'backing off' | 'probing' | 'held' | 'misconfigured' | 'retired';

/** What a failure changed. */
export type HealthNews = 'sick' | 'misconfigured';

interface Sickness {
  /** Failed probes in a row, the failures that made it sick counting as the first. */
  failures: number;
  dueMs: number;
  disposition: Disposition;
  /** Whether only events are queued that ended long ago. */
  longEnded: boolean;
}

export class SinkHealth {
  readonly #streak = new Set<string>();
  #sick: Sickness | null = null;
  #heldUntilMs = 0;
  #misconfigured = false;
  #retired: string | null = null;
  #lastFailure: string | null = null;

  get isRetired(): boolean {
    return this.#retired !== null;
  }

  get isSick(): boolean {
    return this.#sick !== null;
  }

  /** Until when (elapsed time) nothing may be sent; for a sick sink, until its next probe. */
  get closedUntilMs(): number {
    return Math.max(this.#heldUntilMs, this.#sick?.dueMs ?? 0);
  }

  /** A probe goes out; its failure is backed off for the most urgent of what is queued. */
  probing(longEnded: boolean): void {
    if (this.#sick) this.#sick.longEnded = longEnded;
  }

  /** New rows are queued: a probe that waits for events that ended long ago is due as for a live one. */
  hasten(now: Moment): void {
    if (!this.#sick || this.#sick.dueMs <= now.elapsedMs + LIVE_CAP_MS) return;
    this.#sick.dueMs = now.elapsedMs + now.random() * LIVE_CAP_MS;
  }

  /** A delivery was accepted. @returns what had been wrong and is over. */
  succeed(): readonly HealthNews[] {
    const over: HealthNews[] = [];
    if (this.#sick) over.push('sick');
    if (this.#misconfigured) over.push('misconfigured');
    this.#streak.clear();
    this.#sick = null;
    this.#misconfigured = false;
    return over;
  }

  /**
   * A key failed: `key` is null where others of the same call were accepted, which shows that the sink takes; `probe` where the call was
   * one. @returns what began by it.
   */
  fail(key: string | null, error: BridgeError, probe: boolean, now: Moment): readonly HealthNews[] {
    const news: HealthNews[] = [];
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
    if (this.#sick) {
      if (probe) this.#back(this.#sick, disposition, now);
    } else if (error.scope === 'sink' || this.#streak.size >= KEYS_THAT_MAKE_SICK) {
      this.sicken(disposition, now);
      news.push('sick');
    }
    return news;
  }

  /** From now on one delivery at a time, until one is accepted. */
  sicken(disposition: Disposition, now: Moment): void {
    this.#sick = { failures: 0, dueMs: 0, disposition, longEnded: false };
    this.#back(this.#sick, disposition, now);
    this.#streak.clear();
  }

  /** A probe was refused, which says nothing of the sink: the next one comes after the same wait. */
  again(now: Moment): void {
    if (this.#sick) this.#wait(this.#sick, now);
  }

  retire(reason: string): void {
    this.#retired = reason;
  }

  /** What an operator is to know first, and why. `troubled`: keys that back off. */
  state(elapsedMs: number, troubled: number): { readonly state: LaneState; readonly reason: string | null } {
    if (this.#retired !== null) return { state: 'retired', reason: this.#retired };
    if (this.#misconfigured) return { state: 'misconfigured', reason: this.#lastFailure };
    if (elapsedMs < this.#heldUntilMs) return { state: 'held', reason: this.#lastFailure };
    if (this.#sick) return { state: 'probing', reason: this.#lastFailure };
    if (troubled > 0) return { state: 'backing off', reason: this.#lastFailure };
    return { state: 'delivering', reason: null };
  }

  #back(sick: Sickness, disposition: Disposition, now: Moment): void {
    sick.failures += 1;
    sick.disposition = disposition;
    this.#wait(sick, now);
  }

  #wait(sick: Sickness, now: Moment): void {
    sick.dueMs = now.elapsedMs + backoffMs(sick, now.random);
  }
}
