// A response and its connection → whether the client still waits, and the answer's outcome.
import type { ServerResponse } from 'node:http';
import type { Connection } from '../net/guard.ts';
import type { AnswerOutcome } from './journal.ts';

/** A client that waits for an answer. Its connection is watched only if a caller asks for `closed` or `onEnd`. */
export class Client {
  readonly connection: Connection;
  readonly #response: ServerResponse;
  readonly #waiting: Set<Client>;
  #closed: AbortController | null = null;
  /** What the simulator sent; null before it sends anything. */
  #sent: Exclude<AnswerOutcome, 'gave-up'> | null = null;

  /** @param waiting the clients that the listener notifies when it closes */
  constructor(response: ServerResponse, connection: Connection, waiting: Set<Client>) {
    this.#response = response;
    this.connection = connection;
    this.#waiting = waiting;
  }

  /** The client's IP address. */
  get address(): string {
    return this.connection.address.replace(/^::ffff:(?=\d+\.)/i, '');
  }

  /** Aborts when the client disconnects, when it has its answer, or when the listener closes. */
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

  /** Call it when an answer begins; the connection's end shows whether the client received all of it. */
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
