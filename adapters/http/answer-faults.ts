// What an answer says of a batch or one of its members → the fault that tells the lane what to do.
import { BridgeError, type BridgeErrorDetails, type ErrorCode } from '../../src/errors.ts';
import { parseRetryAfter } from '../../src/formats/dates.ts';
import type { Answer } from './answer.ts';
import { type HttpPlace, whoOf } from './failures.ts';
import { statusFault } from './status-fault.ts';

/** What was said, and what to do about it; for people. Nothing that the other side wrote, unless it is a word of a closed list. */
export interface Said {
  readonly said: string;
  readonly advice: string;
  /** An HTTP status or a code of the service; ends up in `dead-letters list`. */
  readonly status: number | string;
}

/** The faults of one place, each in the words of its kind. */
export class AnswerFaults {
  readonly #place: HttpPlace;
  readonly #wallMs: () => number;

  constructor(place: HttpPlace, wallMs: () => number) {
    this.#place = place;
    this.#wallMs = wallMs;
  }

  /** By the status table; null for a success. */
  ofStatus(answer: Answer): BridgeError | null {
    return statusFault(answer, this.#place, this.#wallMs());
  }

  /** A success that does not say what became of the batch: no other program than the service answers so, or one that stands before it. */
  noAnswer(status: number, expected: string): BridgeError {
    const message = `${whoOf(this.#place)} answered ${status}, but not with ${expected}: the bridge retries; if this lasts, check that ${this.#place.key} points to the service itself`;
    return new BridgeError('BRIDGE_SINK_ANSWER', message, { disposition: 'retry', status });
  }

  /** It is tried again slowly. */
  misconfigured(said: Said): BridgeError {
    return this.#fault(this.#place.codes.misconfigured, said, { disposition: 'misconfigured', scope: 'sink' });
  }

  /** It is tried again, after the pause that the answer asks for. */
  unavailable(said: Said, answer?: Answer): BridgeError {
    const retryAfterMs = parseRetryAfter(answer?.headers['retry-after'], this.#wallMs());
    return this.#fault(this.#place.codes.unavailable, said, { disposition: 'retry', ...(retryAfterMs !== null && { retryAfterMs }) });
  }

  /** A dead letter. `isNamed`: this very member is to blame; else of several none is judged, and the batch goes again in halves. */
  refused(said: Said, isNamed: boolean): BridgeError {
    return this.#fault(this.#place.codes.refused, said, { disposition: 'refused', isNamed });
  }

  #fault(code: ErrorCode, { said, advice, status }: Said, details: BridgeErrorDetails): BridgeError {
    return new BridgeError(code, `${whoOf(this.#place)} ${said}: ${advice}`, { ...details, status });
  }
}
