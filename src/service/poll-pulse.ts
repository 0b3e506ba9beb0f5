// When polls begin, ask and end → whether the poll loop still turns.

/** A failure lets the next poll wait for so long at most (behaviour 4.10). */
const LONGEST_PAUSE_MS = 10_000;

export interface PollPulseParts {
  readonly elapsedMs: () => number;
  /** How long one request may take, and how far apart two polls are. */
  readonly limits: { readonly timeoutMs: number; readonly firstTimeoutMs: number; readonly pollIntervalMs: number };
}

/** A request that waits for its answer, and the wait for the next poll, are no silence as long as they may last. */
export class PollPulse {
  readonly #parts: PollPulseParts;
  #lastMs: number;
  /** How long nothing may happen from now on. */
  #quietMs: number;
  #isPolling = false;
  #limits: PollPulseParts['limits'];

  constructor(parts: PollPulseParts) {
    this.#parts = parts;
    this.#limits = parts.limits;
    this.#lastMs = parts.elapsedMs();
    this.#quietMs = 0;
  }

  /** From the next poll on. */
  follow(limits: PollPulseParts['limits']): void {
    this.#limits = limits;
    this.#quietMs = Math.max(this.#quietMs, this.#longestRequestMs, limits.pollIntervalMs);
  }

  /** A poll begins. */
  begins(): void {
    this.#isPolling = true;
    this.#beats(this.#longestRequestMs);
  }

  /** A request leaves; others than a poll's say nothing about the loop. */
  asks(): void {
    if (this.#isPolling) this.#beats(this.#longestRequestMs);
  }

  /** A poll has ended, with a document or without. */
  ended(isDocument: boolean): void {
    const { pollIntervalMs } = this.#limits;
    this.#isPolling = false;
    this.#beats(isDocument ? pollIntervalMs : Math.max(pollIntervalMs, LONGEST_PAUSE_MS));
  }

  /** Whether something has happened in the last `silenceMs`, or need not have. */
  isAlive(silenceMs: number): boolean {
    return this.#parts.elapsedMs() - this.#lastMs <= Math.max(silenceMs, this.#quietMs);
  }

  get #longestRequestMs(): number {
    return Math.max(this.#limits.timeoutMs, this.#limits.firstTimeoutMs);
  }

  #beats(quietMs: number): void {
    this.#lastMs = this.#parts.elapsedMs();
    this.#quietMs = quietMs;
  }
}
