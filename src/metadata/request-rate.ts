// Times of past requests → how many StartRequests may go now: 5 a second, polls first.
import type { Deps } from '../time/clock.ts';

/** Of all metadata routes together (protocol 1.7). */
const MOST = 5;
/** A second, and a little more: requests do not arrive as evenly as they leave. */
const WINDOW_MS = 1050;

/** For StartRequests. */
export interface Room {
  /** How many requests may leave now. */
  readonly posts: number;
  /** When there may be more, in milliseconds from now. */
  readonly inMs: number;
}

/** Counts, and refuses nothing: polls never ask it. */
export class RequestRate {
  readonly #elapsedMs: Deps['elapsedMs'];
  #pollIntervalMs = 0;
  #most = 0;
  readonly #left: { readonly method: 'GET' | 'POST'; readonly atMs: number }[] = [];
  #isReadDue = false;
  #restUntilMs = Number.NEGATIVE_INFINITY;

  /**
   * Where polls leave no room, StartRequests go all the same: one a second, or as many as polls where those alone take all of it, since such a
   * service is none with that limit.
   */
  constructor({ pollIntervalMs, elapsedMs }: { readonly pollIntervalMs: number; readonly elapsedMs: Deps['elapsedMs'] }) {
    this.#elapsedMs = elapsedMs;
    this.pollEvery(pollIntervalMs);
  }

  /** The interval of the polls is another one from now on. */
  pollEvery(pollIntervalMs: number): void {
    this.#pollIntervalMs = pollIntervalMs;
    const polls = Math.ceil(WINDOW_MS / pollIntervalMs);
    this.#most = pollIntervalMs * MOST <= 1000 ? 2 * polls : Math.max(MOST, polls + 1);
  }

  /** A request leaves now. */
  left(method: 'GET' | 'POST'): void {
    this.#forget();
    this.#left.push({ method, atMs: this.#elapsedMs() });
    if (method === 'GET') this.#isReadDue = false;
  }

  /** A GET beside the polls was asked for and keeps its place until one leaves; false where one was asked for already, which serves both. */
  expectRead(): boolean {
    const isNew = !this.#isReadDue;
    this.#isReadDue = true;
    return isNew;
  }

  /** The service has said that it was asked too often: no StartRequest before this time is over. */
  rest(ms: number): void {
    this.#restUntilMs = Math.max(this.#restUntilMs, this.#elapsedMs() + ms);
  }

  /** For StartRequests before which the document is read so many times. Polls that are to come have their place. */
  room(reads: number): Room {
    const restMs = this.#restUntilMs - this.#elapsedMs();
    if (restMs > 0) return { posts: 0, inMs: restMs };
    this.#forget();
    const isFirst = this.#left.every(({ method }) => method === 'GET');
    const free = this.#free(Math.max(reads, this.#isReadDue ? 1 : 0));
    return { posts: Math.max(isFirst ? 1 : 0, free), inMs: this.#nextMs() };
  }

  /** Milliseconds until a GET beside the polls may leave. */
  readInMs(): number {
    this.#forget();
    return this.#left.length < this.#most ? 0 : this.#nextMs();
  }

  /** What is left in the fullest of the windows that this moment lies in. */
  #free(reads: number): number {
    const nowMs = this.#elapsedMs();
    const starts = [...this.#left.map(({ atMs }) => atMs), nowMs];
    const taken = starts.map((fromMs, index) => this.#left.length - index + reads + this.#pollsBefore(fromMs + WINDOW_MS, reads > 0));
    return this.#most - Math.max(...taken);
  }

  /** Polls to come: the next is an interval behind the last GET, whatever that was for. */
  #pollsBefore(untilMs: number, isReadNow: boolean): number {
    const nowMs = this.#elapsedMs();
    const lastMs = isReadNow ? nowMs : this.#left.findLast(({ method }) => method === 'GET')?.atMs;
    const nextMs = lastMs === undefined ? nowMs : Math.max(nowMs, lastMs + this.#pollIntervalMs);
    return Math.max(0, Math.ceil((untilMs - nextMs) / this.#pollIntervalMs));
  }

  #nextMs(): number {
    const [first] = this.#left;
    return first === undefined ? 0 : Math.max(1, Math.ceil(first.atMs + WINDOW_MS - this.#elapsedMs()));
  }

  #forget(): void {
    const sinceMs = this.#elapsedMs() - WINDOW_MS;
    while (this.#left[0] !== undefined && this.#left[0].atMs <= sinceMs) this.#left.shift();
  }
}
