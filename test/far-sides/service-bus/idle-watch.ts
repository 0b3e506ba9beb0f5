// Signs of life → a call once there was none for so long, on the broker's clock.
import type { BrokerClock } from './broker-clock.ts';

export class IdleWatch {
  readonly #clock: BrokerClock;
  readonly #idleMs: number;
  readonly #idle: () => void;
  #since: number;
  #cancel: () => void;

  constructor(clock: BrokerClock, idleMs: number, idle: () => void) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#idle = idle;
    this.#since = clock.now();
    this.#cancel = this.#watch();
  }

  touch(): void {
    this.#since = this.#clock.now();
  }

  stop(): void {
    this.#cancel();
  }

  /** One timer for many signs: it looks when it is due whether there were any. */
  #watch(): () => void {
    return this.#clock.at(this.#since + this.#idleMs, () => {
      if (this.#clock.now() - this.#since >= this.#idleMs) this.#idle();
      else this.#cancel = this.#watch();
    });
  }
}
