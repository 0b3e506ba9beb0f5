// Messages as they come → which of them came before, by message id, within the window.
import type { AmqpMessage } from './amqp-message.ts';
import type { BrokerClock } from './broker-clock.ts';
import { idOf, partitionOf } from './kept-message.ts';

export class DuplicateHistory {
  readonly #windowMs: number;
  readonly #partitioned: boolean;
  readonly #clock: BrokerClock;
  readonly #seen = new Map<string, number>();

  constructor(windowMs: number, partitioned: boolean, clock: BrokerClock) {
    this.#windowMs = windowMs;
    this.#partitioned = partitioned;
    this.#clock = clock;
  }

  /** True for a repeat; what is new is remembered from now on. A message without an id is never one. */
  has(message: AmqpMessage): boolean {
    const now = this.#clock.now();
    for (const [key, at] of this.#seen) {
      if (now - at < this.#windowMs) break;
      this.#seen.delete(key);
    }
    const id = idOf(message);
    if (id === null) return false;
    const key = JSON.stringify([id, this.#partitioned ? partitionOf(message) : null]);
    if (this.#seen.has(key)) return true;
    this.#seen.set(key, now);
    return false;
  }
}
