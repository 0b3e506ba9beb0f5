// Unread answers → bounded in memory and time; beyond, the connection is dropped.
import type { Deps } from '../../time/clock.ts';

/** Of all connections of a listener together. */
const MOST_BYTES = 16 * 1024 * 1024;
/** How long a caller may take for an answer, once it is made. */
const LONGEST_MS = 30_000;

interface Answer {
  readonly bytes: number;
  readonly drop: () => void;
}

/** One for each listener. */
export class UnreadAnswers {
  readonly #deps: Pick<Deps, 'after'>;
  /** The oldest comes first. */
  readonly #answers = new Set<Answer>();
  #bytes = 0;

  constructor(deps: Pick<Deps, 'after'>) {
    this.#deps = deps;
  }

  /** `drop` is called when this answer is to be given up; call the result when the answer was read or its connection has ended. */
  add(bytes: number, drop: () => void): () => void {
    const answer: Answer = { bytes, drop };
    this.#answers.add(answer);
    this.#bytes += bytes;
    const cancel = this.#deps.after(LONGEST_MS, () => this.#drop(answer));
    // One alone may be as large as it is.
    for (const oldest of this.#answers) {
      if (this.#bytes <= MOST_BYTES || this.#answers.size === 1) break;
      this.#drop(oldest);
    }
    return () => {
      cancel();
      this.#forget(answer);
    };
  }

  #drop(answer: Answer): void {
    this.#forget(answer);
    answer.drop();
  }

  #forget(answer: Answer): void {
    if (this.#answers.delete(answer)) this.#bytes -= answer.bytes;
  }
}
