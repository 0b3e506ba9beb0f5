// Messages for events not read yet → kept for a while, up to a limit for each source.
import type { ReceivedMessage } from '../../model/approvals.ts';
import { ageMs, type CancelTimer, type Deps, now } from '../../time/clock.ts';

/** How long the event of a message may stay unknown (behaviour 8.12). */
const WAIT_MS = 60_000;
/** Limits for one source. */
const MOST = 1000;
const MOST_BYTES = 4 * 1024 * 1024;

interface Parked {
  readonly message: ReceivedMessage;
  /** Elapsed time. */
  readonly untilMs: number;
  readonly cancel: CancelTimer;
}

/** The parked messages in memory; the store holds the same ones. */
export class ParkedMessages implements Disposable {
  readonly #deps: Pick<Deps, 'wallMs' | 'elapsedMs' | 'after'>;
  readonly #onExpired: (message: ReceivedMessage) => void;
  readonly #parked = new Map<string, Parked>();
  /** By source. */
  readonly #taken = new Map<string, { readonly messages: number; readonly bytes: number }>();
  /** Resolves with the next change; null if no caller waits for one. */
  #changed: PromiseWithResolvers<void> | null = null;

  /** `onExpired` is called with a message that has waited long enough. */
  constructor(deps: Pick<Deps, 'wallMs' | 'elapsedMs' | 'after'>, onExpired: (message: ReceivedMessage) => void) {
    this.#deps = deps;
    this.#onExpired = onExpired;
  }

  /** In the order in which they were received. */
  messages(): readonly ReceivedMessage[] {
    return [...this.#parked.values()].map(({ message }) => message);
  }

  /** Whether the message may be added: its source has reached neither the number nor the size limit. */
  hasRoom({ source, body }: ReceivedMessage): boolean {
    const { messages, bytes } = this.#of(source);
    return messages < MOST && bytes + body.length <= MOST_BYTES;
  }

  /** Resolves when a message leaves, or `wake` is called. */
  changed(): Promise<void> {
    this.#changed ??= Promise.withResolvers();
    return this.#changed.promise;
  }

  /** Wakes callers that wait for room. */
  wake(): void {
    this.#changed?.resolve();
    this.#changed = null;
  }

  /** Computes the end of the wait once, in elapsed time, so that a change of the wall clock does not prolong it. */
  add(message: ReceivedMessage): void {
    const leftMs = WAIT_MS - Math.max(0, ageMs(message.receivedAt, now(this.#deps)));
    const cancel = this.#deps.after(Math.max(0, leftMs), () => this.#onExpired(message));
    this.#parked.set(keyOf(message), { message, untilMs: this.#deps.elapsedMs() + leftMs, cancel });
    this.#count(message, 1);
  }

  remove(message: ReceivedMessage): void {
    const parked = this.#parked.get(keyOf(message));
    if (parked === undefined) return;
    parked.cancel();
    this.#parked.delete(keyOf(message));
    this.#count(parked.message, -1);
    this.wake();
  }

  isExpired(message: ReceivedMessage): boolean {
    return this.#deps.elapsedMs() >= (this.#parked.get(keyOf(message))?.untilMs ?? Number.POSITIVE_INFINITY);
  }

  /** Parked messages stay in the store. */
  [Symbol.dispose](): void {
    for (const { cancel } of this.#parked.values()) cancel();
    this.#parked.clear();
    this.#taken.clear();
    this.wake();
  }

  #of(source: string) {
    return this.#taken.get(source) ?? { messages: 0, bytes: 0 };
  }

  #count({ source, body }: ReceivedMessage, by: 1 | -1): void {
    const { messages, bytes } = this.#of(source);
    this.#taken.set(source, { messages: messages + by, bytes: bytes + by * body.length });
  }
}

function keyOf({ source, id }: ReceivedMessage): string {
  return JSON.stringify([source, id]);
}
