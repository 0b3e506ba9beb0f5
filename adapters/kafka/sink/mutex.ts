// Callers that need the same resource → one after the other, in order.

interface Waiting {
  readonly go: () => void;
  readonly fail: (error: unknown) => void;
}

/** Lets one caller at a time enter. Each caller must call `leave` at the end. */
export class Mutex {
  readonly #waiting: Waiting[] = [];
  #isTaken = false;

  /**
   * Resolves when the caller may enter. Rejects with the signal's reason, or with the error of `failWaiting`; the
   * caller may then not enter.
   */
  enter(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (!this.#isTaken) {
        this.#isTaken = true;
        return resolve();
      }
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        reject(signal.reason);
      };
      const stopListening = () => signal.removeEventListener('abort', abort);
      const entry: Waiting = {
        go: () => {
          stopListening();
          resolve();
        },
        fail: (error) => {
          stopListening();
          reject(error);
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push(entry);
    });
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next) next.go();
    else this.#isTaken = false;
  }

  /** Rejects all waiting callers. */
  failWaiting(error: unknown): void {
    for (const { fail } of this.#waiting.splice(0)) fail(error);
  }
}
