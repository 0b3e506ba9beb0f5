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
  readonly #polls: number;
  readonly #most: number;
  readonly #left: { readonly method: 'GET' | 'POST'; readonly atMs: number }[] = [];
  #restUntilMs = Number.NEGATIVE_INFINITY;

  /**
   * Where polls leave no room, StartRequests go all the same: one a second, or as many as polls where those alone take all of it, since such a
   * service is none with that limit.
   */
  constructor({ pollIntervalMs, elapsedMs }: { readonly pollIntervalMs: number; readonly elapsedMs: Deps['elapsedMs'] }) {
    this.#elapsedMs = elapsedMs;
    this.#polls = Math.ceil(WINDOW_MS / pollIntervalMs);
    this.#most = pollIntervalMs * MOST <= 1000 ? 2 * this.#polls : Math.max(MOST, this.#polls + 1);
  }

  /** A request leaves now. */
  left(method: 'GET' | 'POST'): void {
    this.#forget();
    this.#left.push({ method, atMs: this.#elapsedMs() });
  }

  /** The service has said that it was asked too often: no StartRequest before this time is over. */
  rest(ms: number): void {
    this.#restUntilMs = Math.max(this.#restUntilMs, this.#elapsedMs() + ms);
  }

  /** For StartRequests before which the document is read so many times. Polls that are to come have their place. */
  room(reads: number): Room {
    const restMs = this.#restUntilMs - this.#elapsedMs();
    if (restMs > 0) return { posts: 0, inMs: restMs };
    const posts = this.#count('POST');
    const free = this.#most - Math.max(this.#polls, this.#count('GET') + reads) - posts;
    return { posts: Math.max(posts === 0 ? 1 : 0, free), inMs: this.#nextMs() };
  }

  /** Milliseconds until a GET beside the polls may leave. */
  readInMs(): number {
    return this.#count('GET') + this.#count('POST') < this.#most ? 0 : this.#nextMs();
  }

  #count(method: 'GET' | 'POST'): number {
    this.#forget();
    return this.#left.filter((request) => request.method === method).length;
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
