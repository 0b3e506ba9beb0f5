// Times of past requests → how many StartRequests may be sent now: 5 a second, polls first.
import type { Deps } from '../time/clock.ts';

/** For all metadata routes together (protocol 1.7). */
const MOST = 5;
/** A little more than a second: requests do not arrive as evenly as they are sent. */
const WINDOW_MS = 1050;

/** The room for StartRequests. */
export interface Room {
  /** How many requests may be sent now. */
  readonly posts: number;
  /** When there may be more, in milliseconds from now. */
  readonly inMs: number;
}

/** Counts requests, but rejects none: polls do not depend on it. */
export class RequestRate {
  readonly #elapsedMs: Deps['elapsedMs'];
  #pollIntervalMs = 0;
  #most = 0;
  readonly #sent: { readonly method: 'GET' | 'POST'; readonly atMs: number }[] = [];
  #isReadDue = false;
  #restUntilMs = Number.NEGATIVE_INFINITY;

  /**
   * If polls leave no room, StartRequests are still sent: one a second, or as many as polls if polls alone use the
   * whole limit, because such a service cannot have this limit.
   */
  constructor({
    pollIntervalMs,
    elapsedMs,
  }: { readonly pollIntervalMs: number; readonly elapsedMs: Deps['elapsedMs'] }) {
    this.#elapsedMs = elapsedMs;
    this.pollEvery(pollIntervalMs);
  }

  pollEvery(pollIntervalMs: number): void {
    this.#pollIntervalMs = pollIntervalMs;
    const polls = Math.ceil(WINDOW_MS / pollIntervalMs);
    this.#most = pollIntervalMs * MOST <= 1000 ? 2 * polls : Math.max(MOST, polls + 1);
  }

  /** Records that a request is sent now. */
  sent(method: 'GET' | 'POST'): void {
    this.#removeOld();
    this.#sent.push({ method, atMs: this.#elapsedMs() });
    if (method === 'GET') this.#isReadDue = false;
  }

  /**
   * Reserves room for a GET outside the polls until one is sent.
   * @returns false if one is already reserved, which serves both
   */
  expectRead(): boolean {
    const isNew = !this.#isReadDue;
    this.#isReadDue = true;
    return isNew;
  }

  /** Blocks StartRequests for this time, after the service reported too many requests. */
  rest(ms: number): void {
    this.#restUntilMs = Math.max(this.#restUntilMs, this.#elapsedMs() + ms);
  }

  /** @param reads how often the document is read before the StartRequests. Upcoming polls keep their room. */
  room(reads: number): Room {
    const restMs = this.#restUntilMs - this.#elapsedMs();
    if (restMs > 0) return { posts: 0, inMs: restMs };
    this.#removeOld();
    const isFirst = this.#sent.every(({ method }) => method === 'GET');
    const free = this.#free(Math.max(reads, this.#isReadDue ? 1 : 0));
    return { posts: Math.max(isFirst ? 1 : 0, free), inMs: this.#nextMs() };
  }

  /** Returns the milliseconds until a GET outside the polls may be sent. */
  readInMs(): number {
    this.#removeOld();
    return this.#sent.length < this.#most ? 0 : this.#nextMs();
  }

  /** Returns the free room in the fullest window that contains this moment. */
  #free(reads: number): number {
    const nowMs = this.#elapsedMs();
    const starts = [...this.#sent.map(({ atMs }) => atMs), nowMs];
    const taken = starts.map(
      (fromMs, index) => this.#sent.length - index + reads + this.#pollsBefore(fromMs + WINDOW_MS, reads > 0),
    );
    return this.#most - Math.max(...taken);
  }

  /** Counts the upcoming polls: the next is one interval after the last GET, whatever its purpose. */
  #pollsBefore(untilMs: number, isReadNow: boolean): number {
    const nowMs = this.#elapsedMs();
    const lastMs = isReadNow ? nowMs : this.#sent.findLast(({ method }) => method === 'GET')?.atMs;
    const nextMs = lastMs === undefined ? nowMs : Math.max(nowMs, lastMs + this.#pollIntervalMs);
    return Math.max(0, Math.ceil((untilMs - nextMs) / this.#pollIntervalMs));
  }

  #nextMs(): number {
    const [first] = this.#sent;
    return first === undefined ? 0 : Math.max(1, Math.ceil(first.atMs + WINDOW_MS - this.#elapsedMs()));
  }

  #removeOld(): void {
    const sinceMs = this.#elapsedMs() - WINDOW_MS;
    while (this.#sent[0] !== undefined && this.#sent[0].atMs <= sinceMs) this.#sent.shift();
  }
}
