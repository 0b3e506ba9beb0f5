// An answer about a batch or one of its members → the fault with the disposition for the lane.
import { BridgeError, type BridgeErrorDetails, type ErrorCode } from '../../src/errors.ts';
import { parseRetryAfter } from '../../src/formats/dates.ts';
import { type Answer, type HttpPlace, statusFault, whoOf } from './failures.ts';

/**
 * What the service answered, and the remedy, for people. It contains no text of the service, except words of a closed
 * list.
 */
interface AnswerReport {
  readonly said: string;
  readonly advice: string;
  /** An HTTP status or a code of the service; shown by `dead-letters list`. */
  readonly status: number | string;
}

/** Creates the faults of one place. */
export class AnswerFaults {
  readonly #place: HttpPlace;
  readonly #wallMs: () => number;

  constructor(place: HttpPlace, wallMs: () => number) {
    this.#place = place;
    this.#wallMs = wallMs;
  }

  /** Returns the fault by the status table, or null for a success. */
  ofStatus(answer: Answer): BridgeError | null {
    return statusFault(answer, this.#place, this.#wallMs());
  }

  /**
   * Returns the fault of a success without a result for the batch: probably another program answered, such as a proxy.
   */
  noAnswer(status: number, expected: string): BridgeError {
    const message = `${whoOf(this.#place)} answered ${status}, but not with ${expected}: the bridge retries; if this lasts, check that ${this.#place.key} points to the service itself`;
    return new BridgeError('BRIDGE_SINK_ANSWER', message, { disposition: 'retry', status });
  }

  /** Returns a fault that the lane retries slowly. */
  misconfigured(said: AnswerReport): BridgeError {
    return this.#fault(this.#place.codes.misconfigured, said, { disposition: 'misconfigured', scope: 'sink' });
  }

  /** Returns a fault that the lane retries, after the pause that the answer asks for. */
  unavailable(said: AnswerReport, answer?: Answer): BridgeError {
    const retryAfterMs = parseRetryAfter(answer?.headers['retry-after'], this.#wallMs());
    return this.#fault(this.#place.codes.unavailable, said, { disposition: 'retry', retryAfterMs });
  }

  /**
   * Returns a fault that makes a dead letter.
   * @param isNamed whether exactly this member is at fault; if not, the lane halves the batch and retries
   */
  refused(said: AnswerReport, isNamed: boolean): BridgeError {
    return this.#fault(this.#place.codes.refused, said, { disposition: 'refused', isNamed });
  }

  #fault(code: ErrorCode, { said, advice, status }: AnswerReport, details: BridgeErrorDetails): BridgeError {
    return new BridgeError(code, `${whoOf(this.#place)} ${said}: ${advice}`, { ...details, status });
  }
}
