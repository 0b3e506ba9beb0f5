// Polls → how far this machine's clock is off, and a log line when that changes.
import type { Logger } from 'pino';
import { ClockOffset } from '../diagnosis/clock.ts';
import type { PollResult } from '../model/events.ts';

/** Compares this machine's clock with that of the metadata service at each document. */
export class ClockWatch {
  readonly offset = new ClockOffset();
  readonly #logger: Logger;
  #isOff = false;

  constructor(logger: Logger) {
    this.#logger = logger.child({ area: 'metadata' });
  }

  /** Logs one warning when the clocks are more than 5 s apart, and one line when they agree again. */
  polled(poll: PollResult): void {
    if (poll.kind !== 'document') return;
    this.offset.read(poll.date, poll.at.wallMs);
    const { fault, seconds } = this.offset;
    if ((fault !== null) === this.#isOff) return;
    this.#isOff = fault !== null;
    if (fault !== null) this.#logger.warn({ offsetSeconds: seconds }, fault);
    else this.#logger.info({ offsetSeconds: seconds }, "this machine's clock agrees with the metadata service again");
  }
}
