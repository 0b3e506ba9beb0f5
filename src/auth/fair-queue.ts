// Pieces of work from many sides → one at a time, the sides in turn, so that whoever brings much delays himself alone.

export class Turns {
  /** By side, in the order in which their next turn comes. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isBusy = false;

  /** Nothing is refused: what waits is bounded by the connections that can wait. */
  async take<T>(side: string, work: () => Promise<T>): Promise<T> {
    if (this.#isBusy) await this.#turn(side);
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(side: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(side);
      if (queue) queue.push(resolve);
      else this.#waiting.set(side, [resolve]);
    });
  }

  /** Stays busy where somebody waits: nobody who comes meanwhile may pass. */
  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#isBusy = false;
      return;
    }
    const [side, queue] = first;
    const begin = queue.shift();
    this.#waiting.delete(side);
    if (queue.length > 0) this.#waiting.set(side, queue);
    begin?.();
  }
}
