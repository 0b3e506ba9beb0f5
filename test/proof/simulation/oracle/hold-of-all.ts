// Requests to hold everything, and their answers → whether one bridge certainly holds everything.

export class HoldOfAll {
  #state: 'no' | 'maybe' | 'yes' = 'no';
  /** Requests without an answer yet. */
  readonly #open = new Set<number>();
  /** Those of them that another request overlaps: which one took effect last is not known. */
  readonly #overlapping = new Set<number>();

  /** An admin's hold was confirmed, and nobody has asked to release it since. */
  get isCertain(): boolean {
    return this.#state === 'yes';
  }

  get isPossible(): boolean {
    return this.#state !== 'no';
  }

  asked(request: number): void {
    this.#open.add(request);
    if (this.#open.size > 1) for (const each of this.#open) this.#overlapping.add(each);
    this.#state = 'maybe';
  }

  replied(request: number, act: string, status: number | null): void {
    this.#open.delete(request);
    const isAlone = !this.#overlapping.delete(request);
    if (!isAlone || status === null || status >= 500) this.#state = 'maybe';
    else if (act === 'hold' && status === 201) this.#state = 'yes';
    else if (act === 'release' && (status === 204 || status === 404)) this.#state = 'no';
  }
}
