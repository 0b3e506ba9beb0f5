// kafkajs's queue of requests → the same, with timers only while requests wait (README.md).
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import type { CancelTimer, Deps } from '../../../../src/time/clock.ts';

/** Uses elapsed time: if the wall clock is set, requests would time out, or a throttle would last for hours. */
export class RepairedRequestQueue extends RequestQueue {
  readonly #deps: Pick<Deps, 'elapsedMs' | 'after'>;
  readonly #timedOut: () => void;
  /** By correlation id. */
  readonly #limits = new Map<number, CancelTimer>();
  #throttledUntilMs = 0;
  #wake: CancelTimer | null = null;

  /** @param timedOut called after a request timed out: later answers would not arrive either */
  constructor(parts: RequestQueue.Parts, deps: Pick<Deps, 'elapsedMs' | 'after'>, timedOut: () => void) {
    super(parts);
    this.#deps = deps;
    this.#timedOut = timedOut;
  }

  /** Sets a timer for each request, instead of checking all requests ten times a second. */
  override sendSocketRequest(request: RequestQueue.SocketRequest): void {
    const { correlationId, requestTimeout } = request;
    try {
      super.sendSocketRequest(request);
    } catch (error) {
      this.inflight.delete(correlationId);
      request.rejected(error);
    }
    if (!this.enforceRequestTimeout || !this.inflight.has(correlationId)) return;
    const giveUp = () => {
      this.#limits.delete(correlationId);
      request.timeoutRequest();
      this.#timedOut();
    };
    this.#limits.set(correlationId, this.#deps.after(requestTimeout, giveUp));
  }

  override fulfillRequest(answer: RequestQueue.Answer): void {
    this.#limits.get(answer.correlationId)?.();
    this.#limits.delete(answer.correlationId);
    super.fulfillRequest(answer);
  }

  override rejectAll(error: unknown): void {
    this.#cancelAll();
    super.rejectAll(error);
  }

  override destroy(): void {
    this.#cancelAll();
  }

  /** Sends nothing until the pause is over (KIP-219). */
  override maybeThrottle(milliseconds: number | null | undefined): void {
    if (!milliseconds || milliseconds <= 0) return;
    this.logger.debug(`throttled by the broker for ${milliseconds} ms`);
    this.#throttledUntilMs = Math.max(this.#throttledUntilMs, this.#deps.elapsedMs() + milliseconds);
  }

  override canSendSocketRequestImmediately(): boolean {
    const isFull = this.maxInFlightRequests !== null && this.inflight.size >= this.maxInFlightRequests;
    return !isFull && this.#deps.elapsedMs() >= this.#throttledUntilMs;
  }

  override scheduleCheckPendingRequests(): void {
    const isFull = this.maxInFlightRequests !== null && this.inflight.size >= this.maxInFlightRequests;
    // A full queue is checked again at the next answer.
    if (this.pending.length === 0 || isFull || this.#wake !== null) return;
    this.#wake = this.#deps.after(Math.max(1, this.#throttledUntilMs - this.#deps.elapsedMs()), () => {
      this.#wake = null;
      this.checkPendingRequests();
    });
  }

  #cancelAll(): void {
    for (const cancel of this.#limits.values()) cancel();
    this.#limits.clear();
    this.#wake?.();
    this.#wake = null;
  }
}
