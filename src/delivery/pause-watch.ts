// The store's word on whether a sink is paused → read again when the store may have changed.
import type { Pause } from '../model/deliveries.ts';
import type { Queue } from '../outbox/queue.ts';
import type { SinkState } from './circuit-breaker.ts';

/** An operator's pause, by this process or another. */
export class PauseWatch {
  readonly #sink: string;
  readonly #store: Pick<Queue, 'record'>;
  #isStale = true;
  #pause: Pause | null = null;

  constructor(sink: string, store: Pick<Queue, 'record'>) {
    this.#sink = sink;
    this.#store = store;
  }

  /** Somebody may have paused or resumed it. */
  forget(): void {
    this.#isStale = true;
  }

  /** @throws BridgeError BRIDGE_STORE_* */
  read(): void {
    if (!this.#isStale) return;
    this.#pause = this.#store.record(this.#sink).pause;
    this.#isStale = false;
  }

  get isPaused(): boolean {
    return this.#pause !== null;
  }

  /** Null where it is not paused: then the sink's own trouble tells how it is. */
  get state(): SinkState | null {
    return this.#pause && { state: 'paused', reason: `paused by ${this.#pause.by}`, untilMs: null };
  }
}
