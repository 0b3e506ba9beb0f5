// Work by caller network → one piece at a time, round-robin: a flood delays only its sender.

export class FairQueue {
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

  /** Stays busy while work waits, so that newcomers cannot overtake it. */
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
