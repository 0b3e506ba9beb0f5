// The metadata service's Date and this machine's clock → their offset, and a finding if too large.
import { type Finding, fault } from './finding.ts';

/** The header has whole seconds, and an answer may take some time. */
const TOLERATED_MS = 5000;
/** The number of answers in the median. */
const READINGS = 10;

/** @param date the header, if any @param wallMs when the answer arrived */
export function clockFindings(date: string | undefined, wallMs: number): readonly Finding[] {
  const found = clockFault(Date.parse(date ?? '') - wallMs);
  return found === null ? [] : [fault('clock', found)];
}

/** Compares the clocks at each answer. */
export class ClockOffset {
  /** Positive: this machine is behind. */
  readonly #offsetsMs: number[] = [];

  /** Ignores an answer without a valid date. @param wallMs when the answer arrived */
  read(date: string | undefined, wallMs: number): void {
    const serviceMs = Date.parse(date ?? '');
    if (Number.isNaN(serviceMs)) return;
    // The header is cut to whole seconds, half a second on average.
    this.#offsetsMs.push(serviceMs + 500 - wallMs);
    if (this.#offsetsMs.length > READINGS) this.#offsetsMs.shift();
  }

  /**
   * The median of the last ten answers, in seconds with one decimal. Positive: this machine is behind. Null before the
   * first answer.
   */
  get seconds(): number | null {
    const medianMs = this.#medianMs;
    return medianMs === null ? null : Math.round(medianMs / 100) / 10;
  }

  /** What is wrong and what to do, if the clocks are more than 5 s apart; otherwise null. */
  get fault(): string | null {
    const medianMs = this.#medianMs;
    return medianMs === null ? null : clockFault(medianMs);
  }

  get #medianMs(): number | null {
    const sorted = this.#offsetsMs.toSorted((a, b) => a - b);
    const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
    return low === undefined || high === undefined ? null : (low + high) / 2;
  }
}

/**
 * Returns what is wrong and what to do if the clocks are more than 5 s apart, otherwise null.
 * @param offsetMs positive: this machine is behind
 */
export function clockFault(offsetMs: number): string | null {
  if (!(Math.abs(offsetMs) > TOLERATED_MS)) return null;
  const off = `${Math.round(Math.abs(offsetMs) / 1000)} s ${offsetMs < 0 ? 'ahead of' : 'behind'}`;
  return (
    `this machine's clock is ${off} the clock of the metadata service: deadlines, notices and signatures depend on it. Synchronize it with NTP, ` +
    'or with chrony and the PTP clock of Azure; "timedatectl" shows its state'
  );
}
