// Calls to the far sides → how many run now; virtual time passes only while none does.
import type { Adapter, AdapterDefinition } from '../../../adapters/adapter.ts';

/** Turns of the event loop without a call, after which the bridge has done all that it can do at this moment. */
const CALM_TURNS = 3;

export class Calls {
  /** The calls of these sinks are not counted: their far side never answers. */
  away: ReadonlySet<string> = new Set();
  #running = 0;
  #wake: () => void = () => {};

  /** Counts a call until it has settled. */
  async count<T>(call: () => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await call();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#wake();
    }
  }

  /** Resolves when no call runs, and none has begun for some turns. */
  async calm(): Promise<void> {
    for (let turns = 0; turns < CALM_TURNS; turns++) {
      while (this.#running > 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        turns = 0;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** The same sink type, whose deliveries are counted. */
  counted(definition: AdapterDefinition<unknown>): AdapterDefinition<unknown> {
    return { ...definition, create: (options, deps) => this.#adapter(definition.create(options, deps), deps.name) };
  }

  /** In place: an adapter may have private members and optional methods. */
  #adapter(adapter: Adapter, sink: string): Adapter {
    const deliver = adapter.deliver.bind(adapter);
    adapter.deliver = (...args) => (this.away.has(sink) ? deliver(...args) : this.count(() => deliver(...args)));
    return adapter;
  }
}
