// An answer and its connection → whether the client still waits, and the answer's outcome.
import type { ServerResponse } from 'node:http';
import type { AnswerOutcome } from './journal.ts';

/** Who waits for an answer. Most get theirs at once, and nothing is set up to watch them go. */
export class Client {
  readonly #response: ServerResponse;
  readonly #waiting: Set<Client>;
  #closed: AbortController | null = null;
  /** What was done for it; null before. */
  #sent: Exclude<AnswerOutcome, 'gave-up'> | null = null;

  /** @param waiting the listener's set of watched clients, which it notifies when it closes */
  constructor(response: ServerResponse, waiting: Set<Client>) {
    this.#response = response;
    this.#waiting = waiting;
  }

  /** Where it asks from: an IP address, or empty where it has gone already. */
  get address(): string {
    return (this.#response.socket?.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/i, '');
  }

  /** Aborts when the client goes away, or has its answer, or the listener is closed. */
  get closed(): AbortSignal {
    if (!this.#closed) {
      this.#closed = new AbortController();
      this.#waiting.add(this);
      if (this.#response.destroyed) this.leave();
      else this.#response.once('close', () => this.leave());
    }
    return this.#closed.signal;
  }

  /** Reports the answer's outcome, once. */
  onEnd(report: (outcome: AnswerOutcome) => void): void {
    const end = () => report(this.#outcome());
    if (this.#response.destroyed) end();
    else this.#response.once('close', end);
  }

  /** To be called when an answer is begun; whether all of it was handed over shows at the end. */
  sent(outcome: Exclude<AnswerOutcome, 'gave-up'>): void {
    this.#sent = outcome;
  }

  leave(): void {
    this.#waiting.delete(this);
    this.#closed?.abort();
  }

  #outcome(): AnswerOutcome {
    if (this.#sent === null) return 'gave-up';
    return this.#sent === 'answered' && !this.#response.writableFinished ? 'gave-up' : this.#sent;
  }
}
