// Starts, requests and ends of polls → whether the poll loop makes progress.

/** The longest wait for the next poll after a failure (behaviour 4.10). */
const LONGEST_PAUSE_MS = 10_000;

export interface PollPulseParts {
  readonly elapsedMs: () => number;
  /** The time limit of a request, and the interval of polls. */
  readonly limits: { readonly timeoutMs: number; readonly firstTimeoutMs: number; readonly pollIntervalMs: number };
}

/** A wait for an answer or for the next poll counts as progress while it is within its limit. */
export class PollPulse {
  readonly #parts: PollPulseParts;
  #lastMs: number;
  /** How long nothing may happen after the last progress. */
  #quietMs: number;
  #isPolling = false;
  #limits: PollPulseParts['limits'];

  constructor(parts: PollPulseParts) {
    this.#parts = parts;
    this.#limits = parts.limits;
    this.#lastMs = parts.elapsedMs();
    this.#quietMs = 0;
  }

  /** Changes the limits from the next poll on. */
  follow(limits: PollPulseParts['limits']): void {
    this.#limits = limits;
    this.#quietMs = Math.max(this.#quietMs, this.#longestRequestMs, limits.pollIntervalMs);
  }

  /** A poll begins. */
  begins(): void {
    this.#isPolling = true;
    this.#progress(this.#longestRequestMs);
  }

  /** A request is sent; only a poll's requests count as progress. */
  asks(): void {
    if (this.#isPolling) this.#progress(this.#longestRequestMs);
  }

  /** A poll has ended, with or without a document. */
  ended(isDocument: boolean): void {
    const { pollIntervalMs } = this.#limits;
    this.#isPolling = false;
    this.#progress(isDocument ? pollIntervalMs : Math.max(pollIntervalMs, LONGEST_PAUSE_MS));
  }

  /** Whether there was progress in the last `silenceMs`, or a longer wait is allowed. */
  isAlive(silenceMs: number): boolean {
    return this.#parts.elapsedMs() - this.#lastMs <= Math.max(silenceMs, this.#quietMs);
  }

  get #longestRequestMs(): number {
    return Math.max(this.#limits.timeoutMs, this.#limits.firstTimeoutMs);
  }

  #progress(quietMs: number): void {
    this.#lastMs = this.#parts.elapsedMs();
    this.#quietMs = quietMs;
  }
}
