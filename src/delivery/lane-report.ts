// Events in a lane → its status, metrics and log: each trouble reported at its start and its end.

import type { Logger } from 'pino';
import type { BridgeError } from '../errors.ts';
import type { AttemptOutcome, Delivery, Retirement, SinkState } from '../model/deliveries.ts';
import { isContractBreach } from './managed-adapter.ts';
import type { News, Verdict } from './verdict.ts';

export interface LaneStatus {
  readonly state: SinkState;
  /** The message of the last failure; null while nothing is wrong. */
  readonly reason: string | null;
  /** Wall time at which the lane came to this state. */
  readonly sinceMs: number;
  /** While `held`: wall time of its end, if it is known; else null. */
  readonly untilMs: number | null;
  /** Calls of the adapter now running. */
  readonly inFlight: number;
}

export interface AttemptReport {
  readonly outcome: AttemptOutcome;
  /** Deliveries of one call that came out so. */
  readonly count: number;
  /** Of the call; 0 for rows of a retired sink, which expire without one. */
  readonly durationMs: number;
}

interface LaneReportOptions {
  readonly logger: Logger;
  readonly onAttempt?: ((report: AttemptReport) => void) | undefined;
  readonly onState?: ((status: LaneStatus) => void) | undefined;
}

/** What ends the pause of a retired sink. */
const RESUMED_BY = 'its configuration changes or `resume --sink NAME` is run';

export class LaneReport {
  readonly #options: LaneReportOptions;
  #status: Omit<LaneStatus, 'inFlight'> = { state: 'delivering', reason: null, sinceMs: 0, untilMs: null };
  #isShort = false;

  constructor(options: LaneReportOptions) {
    this.#options = options;
  }

  status(inFlight: number): LaneStatus {
    return { ...this.#status, inFlight };
  }

  /** Passes a status on if its state or its reason is another one than before. `untilMs`: elapsed time. */
  update(
    { state, reason, untilMs }: Pick<LaneStatus, 'state' | 'reason' | 'untilMs'>,
    now: { readonly elapsedMs: number; readonly wallMs: number },
    inFlight: number,
  ): void {
    const before = this.#status;
    const until = untilMs === null ? null : now.wallMs + untilMs - now.elapsedMs;
    const sinceMs = state === before.state && before.sinceMs !== 0 ? before.sinceMs : now.wallMs;
    this.#status = { state, reason, sinceMs, untilMs: until };
    if (before.sinceMs !== 0 && state === before.state && reason === before.reason) return;
    this.#reportPause(before.state === 'paused', state === 'paused', reason);
    this.#options.onState?.(this.status(inFlight));
  }

  #reportPause(wasPaused: boolean, isPaused: boolean, reason: string | null): void {
    const { logger } = this.#options;
    if (isPaused && !wasPaused)
      logger.warn({ reason }, 'the sink is paused: nothing goes out to it until an operator resumes it');
    if (wasPaused && !isPaused) logger.info('the sink is no longer paused');
  }

  attempted(verdicts: readonly Verdict[], durationMs: number): void {
    const counts = new Map<AttemptOutcome, number>();
    for (const { outcome } of verdicts) if (outcome !== 'again') counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    for (const [outcome, count] of counts) this.#options.onAttempt?.({ outcome, count, durationMs });
  }

  changed(news: News): void {
    if (news.kind === 'recovered') this.#recovered(news);
    else if (news.kind === 'troubled') this.#troubled(news);
    else if (news.kind === 'failed') this.#failed(news);
    else if (news.kind === 'given up') this.#gaveUp(news);
    else this.#retired(news.error);
  }

  #failed({ row, error, failures, isKnown }: Extract<News, { kind: 'failed' }>): void {
    const level = failures > 1 || isKnown ? 'debug' : isContractBreach(error) ? 'error' : 'warn';
    this.#options.logger[level]({ ...about(row, error), failures }, 'delivery failed and will be tried again');
  }

  #gaveUp({ row, error, outcome }: { row: Delivery; error: BridgeError; outcome: AttemptOutcome }): void {
    this.#options.logger.warn({ ...about(row, error), why: outcome }, 'delivery given up: it is a dead letter now');
  }

  /** Failures of a call that ended under settings that hold no more: the sink's state says nothing of them. */
  lateFailures(verdicts: readonly Verdict[]): void {
    for (const verdict of verdicts) {
      if (!('error' in verdict)) continue;
      if (verdict.outcome === 'refused' || verdict.outcome === 'expired') this.#gaveUp(verdict);
      else
        this.#options.logger.warn(
          about(verdict.row, verdict.error),
          'delivery failed under the settings of before: it goes again by the new ones',
        );
    }
  }

  /** Rows of a retired sink became too old. */
  expired(count: number): void {
    this.#options.logger.warn({ count }, 'deliveries expired while the sink is retired: they are dead letters now');
    this.#options.onAttempt?.({ outcome: 'expired', count, durationMs: 0 });
  }

  /** The events of queued rows have changed, started or ended since: they are not attempted any more. */
  superseded(count: number): void {
    this.#options.logger.info(
      { count },
      'deliveries are superseded, as their events have changed, started or ended since',
    );
    this.#options.onAttempt?.({ outcome: 'accepted', count, durationMs: 0 });
  }

  #troubled({ by, error }: Extract<News, { kind: 'troubled' }>): void {
    const { logger } = this.#options;
    const log = { code: error.code, status: error.status, reason: error.message };
    if (by.has('misconfigured'))
      logger.warn(log, 'the sink looks misconfigured: mend what the reason says; tried slowly until then');
    else logger.warn(log, 'the sink fails as a whole: one delivery at a time until one is accepted');
  }

  #recovered({ from }: Extract<News, { kind: 'recovered' }>): void {
    const { logger } = this.#options;
    if (from.has('misconfigured')) logger.info('the sink takes deliveries: it is no longer misconfigured');
    else logger.info('the sink takes deliveries again');
  }

  #retired(error: BridgeError): void {
    const until = error.untilRestart ? 'the bridge is restarted' : RESUMED_BY;
    this.#options.logger.error(
      { code: error.code, status: error.status, reason: error.message },
      `the sink wants no more deliveries and is paused until ${until}; what is queued for it waits`,
    );
  }

  foundRetired({ reason, atMs }: Retirement): void {
    const log = { reason, since: new Date(atMs).toISOString() };
    this.#options.logger.warn(
      log,
      `the sink is retired and stays paused until ${RESUMED_BY}; what is queued for it waits`,
    );
  }

  resumed(): void {
    this.#options.logger.info('the sink was retired and is resumed: what is queued for it goes out');
  }

  /** Whether rows wait for the rate alone. Told when it begins and when nothing waits any more. */
  short(isShort: boolean, perMinute: number | null): void {
    if (isShort === this.#isShort) return;
    this.#isShort = isShort;
    const { logger } = this.#options;
    if (isShort)
      logger.info({ perMinute }, 'more is queued than the rate of this sink lets out: the most urgent goes first');
    else logger.info('nothing waits for the rate of this sink any more');
  }

  unreadable(reason: string, failures: number): void {
    this.#options.logger[failures > 1 ? 'debug' : 'error'](
      { reason },
      'queued deliveries could not be read; tried again',
    );
  }

  disposeFailed(reason: string): void {
    this.#options.logger.error({ reason }, 'the sink could not be closed cleanly');
  }
}

/** What a log line has of a delivery: never its payload. */
function about(row: Delivery, error: BridgeError): object {
  const { id, attempts } = row;
  return { id, attempts: attempts + 1, code: error.code, status: error.status, reason: error.message };
}
