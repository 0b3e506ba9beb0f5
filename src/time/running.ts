// Running calls → a wait for their end, for parts that may close only after them.

export class Running {
  readonly #calls = new Set<Promise<unknown>>();

  /** Settles like `call`. */
  async track<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  /** Resolves once no call is running, including calls that begin meanwhile. Never rejects. */
  async ended(): Promise<void> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls);
  }
}
