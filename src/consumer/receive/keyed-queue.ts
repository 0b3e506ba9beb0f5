// Work by key → one after the other for each key, side by side for different keys.

export class KeyedQueue {
  /** The last of each key that has work left. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** What comes of `work`, which starts once all earlier work of that key has settled, well or not. */
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

  /** Resolves once nothing is left, whatever became of it. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.allSettled(this.#last.values());
  }
}
