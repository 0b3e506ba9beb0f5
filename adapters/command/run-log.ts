// The outputs and outcomes of runs → the log: each failure in full once, then counted.
import type { Logger } from 'pino';
import { BridgeError } from '../../src/errors.ts';
import type { Outcome } from '../adapter.ts';
import type { Outputs } from './running-program.ts';

/** The maximum number of different failures that are counted. */
const MOST_FAILURES = 100;

interface EndedRun {
  /** The CloudEvent's id. */
  readonly id: string;
  readonly outputs: Outputs;
  readonly outcome: Outcome;
  /** Whether the program ended with 0. */
  readonly wentWell: boolean;
  /** Texts that must not be logged. */
  readonly hidden: readonly string[];
}

/**
 * The log of one program. A failure that the bridge retries is logged in full the first time. If it repeats, whichever
 * event the run is for, it is counted until the program succeeds.
 */
export class RunLog {
  readonly #logger: Logger;
  /** By kind of failure. */
  readonly #failures = new Map<string, number>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  ended(run: EndedRun): void {
    const { id, outcome, wentWell } = run;
    if (wentWell) this.#succeeded(id);
    const count = isRetried(outcome) ? this.#count(kindOf(outcome, run)) : 1;
    if (count > 1 && isPowerOfTen(count))
      this.#logger.warn({ id, failures: count }, 'the program keeps failing in the same way');
    this.#logOutputs(run, wentWell ? 'info' : count > 1 ? 'debug' : 'warn');
  }

  #succeeded(id: string): void {
    const failures = [...this.#failures.values()].reduce((sum, count) => sum + count, 0);
    if (failures > 0) this.#logger.info({ id, failures }, 'the program succeeds again');
    this.#failures.clear();
  }

  #count(kind: string): number {
    const count = (this.#failures.get(kind) ?? 0) + 1;
    if (count === 1 && this.#failures.size === MOST_FAILURES) this.#failures.clear();
    this.#failures.set(kind, count);
    return count;
  }

  #logOutputs({ id, outputs, hidden }: EndedRun, level: 'debug' | 'info' | 'warn'): void {
    for (const stream of ['stdout', 'stderr'] as const)
      for (const line of outputs[stream].lines(hidden)) this.#logger[level]({ id, stream, line }, 'the program said');
  }
}

/** A dead letter is not retried, and its output is not repeated. */
function isRetried(outcome: Outcome): outcome is BridgeError {
  return outcome instanceof BridgeError && (outcome.disposition === 'retry' || outcome.disposition === 'misconfigured');
}

/** Returns the same text for failures that differ only in numbers, such as times and ids. */
function kindOf({ status }: BridgeError, { outputs, hidden }: EndedRun): string {
  const words = (outputs.stderr.lastLine(hidden) ?? '').split(/\W/).filter((word) => !/\d/.test(word));
  return [status, ...words].join(' ');
}

function isPowerOfTen(count: number): boolean {
  return /^10*$/.test(String(count));
}
