// Batches that begin → adapter calls under way, each until what became of its rows is stored.
import type { Delivery } from '../model/deliveries.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { OutcomeWriter } from './outcome-writer.ts';
import type { Unattempted } from './unattempted.ts';

export interface CallsParts {
  readonly dispatcher: Dispatcher;
  readonly unattempted: Unattempted;
  readonly settlements: OutcomeWriter;
  /** A call has ended: its place is free, and its keys are once what became of its rows is stored. */
  readonly onEnded: (batch: readonly Delivery[]) => void;
  /** What became of its rows is stored: their keys are free. */
  readonly onReleased: () => void;
}

export class Calls {
  readonly #parts: CallsParts;
  readonly #running = new Set<Promise<void>>();

  constructor(parts: CallsParts) {
    this.#parts = parts;
  }

  /** How many run. */
  get count(): number {
    return this.#running.size;
  }

  begin(batch: readonly Delivery[], probe: boolean): void {
    const { dispatcher, unattempted, settlements, onEnded, onReleased } = this.#parts;
    dispatcher.keys.occupy(batch);
    const call = dispatcher.carry(batch, probe, unattempted.begin(batch)).then(() => {
      this.#running.delete(call);
      unattempted.end(batch);
      settlements.add([], () => {
        dispatcher.keys.release(batch);
        onReleased();
      });
      onEnded(batch);
    });
    this.#running.add(call);
  }

  /** Resolves once none runs. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }
}
