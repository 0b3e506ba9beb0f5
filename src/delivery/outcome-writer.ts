// Outcomes of deliveries → the store: one write for several, repeated until it succeeds.

import type { Logger } from 'pino';
import { type BridgeError, messageOf } from '../errors.ts';
import type { Retirement, Settlement, SinkError } from '../model/deliveries.ts';
import type { Queue } from '../outbox/queue.ts';
import { backoffMs } from '../time/backoff.ts';
import type { CancelTimer, Deps } from '../time/clock.ts';

/** What a lane asks of the outbox's queue. */
export type LaneStore = Omit<Queue, 'settleWithin' | 'backlog' | 'pause' | 'resume'>;

/**
 * The most outcomes that may wait for their write. With more, nothing is sent; with those of one batch, the next batch
 * is.
 */
const MOST_UNWRITTEN = 64;

interface OutcomeWriterOptions {
  readonly sink: string;
  readonly store: Pick<LaneStore, 'retire'>;
  readonly settle: LaneStore['settle'];
  readonly deps: Deps;
  readonly logger: Logger;
  readonly onWritten: () => void;
}

/**
 * Keeps outcomes in memory until the store has them, so that what was accepted is not sent again while a disk is full.
 */
export class OutcomeWriter {
  readonly #options: OutcomeWriterOptions;
  #settlements: Settlement[] = [];
  #retirement: Retirement | null = null;
  #lastError: SinkError | null = null;
  #whenWritten: (() => void)[] = [];
  #failures = 0;
  #cancelTimer: CancelTimer | null = null;

  constructor(options: OutcomeWriterOptions) {
    this.#options = options;
  }

  /** So much waits that no more deliveries may begin. @param batch members that a call may have */
  isFull(batch: number): boolean {
    return this.#settlements.length >= (this.#failures > 0 ? MOST_UNWRITTEN : Math.max(MOST_UNWRITTEN, batch + 1));
  }

  /** Is written with whatever else arrives now; then `whenWritten` runs. */
  add(settlements: readonly Settlement[], whenWritten?: () => void): void {
    this.#settlements.push(...settlements);
    if (whenWritten) this.#whenWritten.push(whenWritten);
    this.#soon();
  }

  /** Why a delivery failed is written with its outcome; of several the last one counts. */
  failed({ code, message }: BridgeError): void {
    this.#lastError = { code, message, atMs: this.#options.deps.wallMs() };
  }

  /** Whether a retirement is not stored yet. */
  get isRetiring(): boolean {
    return this.#retirement !== null;
  }

  retire(retirement: Retirement): void {
    this.#retirement = retirement;
    this.#soon();
  }

  /** Resolves once all that waits now is written. */
  written(): Promise<void> {
    return new Promise((resolve) => this.add([], resolve));
  }

  /** The sink is configured otherwise now: a retirement that is not stored yet does not concern it any more. */
  dropRetirement(): void {
    this.#retirement = null;
  }

  /** Something else could be stored, so this may be, too: what waits after a failure is tried at once. */
  hurry(): void {
    if (this.#failures === 0 || this.#cancelTimer === null) return;
    this.#cancelTimer();
    this.#cancelTimer = this.#options.deps.after(0, this.#flush);
  }

  /** Writes what is left, once; what fails is logged and lost, so that those deliveries repeat at the next start. */
  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (this.#write()) return;
    const { logger } = this.#options;
    logger.error(
      { count: this.#settlements.length },
      'outcomes could not be stored; these deliveries will be repeated after the next start',
    );
  }

  #soon(): void {
    this.#cancelTimer ??= this.#options.deps.after(0, this.#flush);
  }

  readonly #flush = (): void => {
    this.#cancelTimer = null;
    if (this.#write()) {
      this.#options.onWritten();
      return;
    }
    const { deps } = this.#options;
    const delayMs = backoffMs({ failures: this.#failures, disposition: 'retry', longEnded: false }, deps.random());
    this.#cancelTimer = deps.after(delayMs, this.#flush);
  };

  #write(): boolean {
    const { sink, store, settle, deps, logger } = this.#options;
    try {
      if (this.#settlements.length > 0) settle(sink, this.#settlements, deps.wallMs(), this.#lastError);
      this.#settlements = [];
      this.#lastError = null;
      if (this.#retirement) store.retire(sink, this.#retirement);
      this.#retirement = null;
    } catch (error) {
      this.#failures += 1;
      const log = { count: this.#settlements.length, reason: messageOf(error) };
      if (this.#failures === 1)
        logger.error(log, 'outcomes could not be stored; kept in memory and tried again, their keys wait');
      else logger.debug(log, 'outcomes could still not be stored');
      return false;
    }
    if (this.#failures > 0) logger.info('outcomes can be stored again');
    this.#failures = 0;
    const whenWritten = this.#whenWritten;
    this.#whenWritten = [];
    for (const run of whenWritten) run();
    return true;
  }
}
