// Work by key → one after the other for each key, in parallel for different keys.

export class KeyedQueue {
  /** The last work of each key, until it has settled. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` once all earlier work of that key has settled, and returns its result. */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#last.set(key, mine);
    const forget = () => {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    };
    mine.then(forget, forget);
    return mine;
  }

  /** Resolves once all work has settled. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.allSettled(this.#last.values());
  }
}
