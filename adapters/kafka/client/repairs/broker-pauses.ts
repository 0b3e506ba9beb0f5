// A kafkajs producer → until when a broker's pause held its requests back (KIP-219).
import type { Producer } from 'kafkajs';
import type { Deps } from '../../../../src/time/clock.ts';

export class BrokerPauses {
  readonly #deps: Pick<Deps, 'elapsedMs'>;
  /** Brokers with requests that wait. */
  readonly #waiting = new Set<string>();
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(deps: Pick<Deps, 'elapsedMs'>) {
    this.#deps = deps;
  }

  /** Elapsed time; now, while requests are held back. */
  get heldUntilMs(): number {
    return this.#waiting.size > 0 ? this.#deps.elapsedMs() : this.#lastMs;
  }

  /** Nothing else is ever queued: kafkajs limits requests in flight only where it is configured to. */
  watch(producer: Producer): void {
    producer.on(producer.events.REQUEST_QUEUE_SIZE, ({ payload: { broker, queueSize } }) => {
      if (queueSize > 0) this.#waiting.add(broker);
      else if (this.#waiting.delete(broker)) this.#lastMs = this.#deps.elapsedMs();
    });
  }
}
