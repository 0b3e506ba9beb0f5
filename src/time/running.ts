// Calls as they begin → a wait for their end, for what may close only after them.

export class Running {
  readonly #calls = new Set<Promise<unknown>>();

  /** The same outcome as that of `call`. */
  async track<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  /** Resolves once nothing runs, what began meanwhile included. Never rejects. */
  async ended(): Promise<void> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls);
  }
}
