// Messages for events that nobody has seen yet → kept until their event comes, or until they have waited long enough.
import type { ReceivedMessage } from '../approval.ts';
import { ageMs, type CancelTimer, type Deps, now } from '../time.ts';

/** How long the event of a message may stay unknown (contract, section 8). */
const WAIT_MS = 60_000;

interface Parked {
  readonly message: ReceivedMessage;
  /** Elapsed time. */
  readonly untilMs: number;
  readonly cancel: CancelTimer;
}

/** In memory what the store holds of them. */
export class Parking implements Disposable {
  readonly #deps: Pick<Deps, 'wallMs' | 'elapsedMs' | 'after'>;
  readonly #onExpired: (message: ReceivedMessage) => void;
  readonly #parked = new Map<string, Parked>();

  /** `onExpired` is called with a message that has waited long enough. */
  constructor(deps: Pick<Deps, 'wallMs' | 'elapsedMs' | 'after'>, onExpired: (message: ReceivedMessage) => void) {
    this.#deps = deps;
    this.#onExpired = onExpired;
  }

  /** In the order in which they were received. */
  messages(): readonly ReceivedMessage[] {
    return [...this.#parked.values()].map(({ message }) => message);
  }

  /** The clocks are compared once, so that a wall clock which was set makes it wait no longer. */
  add(message: ReceivedMessage): void {
    const leftMs = WAIT_MS - Math.max(0, ageMs(message.receivedAt, now(this.#deps)));
    const cancel = this.#deps.after(leftMs, () => this.#onExpired(message));
    this.#parked.set(keyOf(message), { message, untilMs: this.#deps.elapsedMs() + leftMs, cancel });
  }

  remove(message: ReceivedMessage): void {
    this.#parked.get(keyOf(message))?.cancel();
    this.#parked.delete(keyOf(message));
  }

  isExpired(message: ReceivedMessage): boolean {
    return this.#deps.elapsedMs() >= (this.#parked.get(keyOf(message))?.untilMs ?? Number.POSITIVE_INFINITY);
  }

  /** What is parked stays in the store. */
  [Symbol.dispose](): void {
    for (const { cancel } of this.#parked.values()) cancel();
    this.#parked.clear();
  }
}

function keyOf({ source, id }: ReceivedMessage): string {
  return JSON.stringify([source, id]);
}
