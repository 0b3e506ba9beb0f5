// A kafkajs producer → the end of a broker's pause (KIP-219).
import type { Producer } from 'kafkajs';
import type { Deps } from '../../../../src/time/clock.ts';

export class BrokerPauses {
  readonly #deps: Pick<Deps, 'elapsedMs'>;
  /** Brokers with waiting requests. */
  readonly #waiting = new Set<string>();
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(deps: Pick<Deps, 'elapsedMs'>) {
    this.#deps = deps;
  }

  /** The end of the last pause (elapsed time); the current time while requests wait. */
  get heldUntilMs(): number {
    return this.#waiting.size > 0 ? this.#deps.elapsedMs() : this.#lastMs;
  }

  /** Watches the queue of a producer. Only pauses fill it, because the number of requests in flight is not limited. */
  watch(producer: Producer): void {
    producer.on(producer.events.REQUEST_QUEUE_SIZE, ({ payload: { broker, queueSize } }) => {
      if (queueSize > 0) this.#waiting.add(broker);
      else if (this.#waiting.delete(broker)) this.#lastMs = this.#deps.elapsedMs();
    });
  }
}
