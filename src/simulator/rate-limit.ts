// A machine's requests → whether the next is too many: 5 in any second (protocol 1.7).

const MOST = 5;
const WINDOW_MS = 1000;

export class RateLimit {
  #takenAtMs: number[] = [];

  /** False where it is one too many, which is not counted. @param nowMs simulated */
  take(nowMs: number): boolean {
    this.#takenAtMs = this.#takenAtMs.filter((atMs) => atMs > nowMs - WINDOW_MS);
    if (this.#takenAtMs.length >= MOST) return false;
    this.#takenAtMs.push(nowMs);
    return true;
  }
}
