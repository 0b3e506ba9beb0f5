// A receipt and a repeat → whether a lost answer, a kill or a failing disk explains the repeat.
import type { Arrival } from './far-sides.ts';
import type { Played } from './played.ts';

/** A receipt is stored at the latest so long after it came, without the time in which the bridge had no processor. */
const STORED_MS = 3000;
/** A bridge lets running deliveries end for so long. Then it ends without their receipts. */
const GRACE_MS = 8000;
/** Of the metadata service. */
const REQUEST_MS = 1000;

/** Also if nothing shows that the bridge has read the answer: a gated sink has a limit of 1 s. */
export function isExplained(played: Played, first: Arrival, again: Arrival): boolean {
  return first.readMs === null || isUnstored(played, first.fromMs, first.readMs, again.atMs);
}

/** Says how much later the repeat came, and when processes ended, in ms from the receipt. */
export function timesOf({ bridge }: Played, first: Arrival, again: Arrival): string {
  const since = (ms: number) => Math.round(ms - first.atMs);
  const ends = bridge.gone.map(
    ({ how, code, atMs, tookMs }) => `${how} with ${code} at ${since(atMs)} ms, after ${Math.round(tookMs)} ms`,
  );
  return `${since(again.atMs)} ms later; processes: ${ends.join(', ') || 'none ended'}`;
}

/** The metadata service has a limit of 1 s, which a process that stands still or has no processor exceeds. */
export function isPostExplained(played: Played, receiptMs: number, againMs: number): boolean {
  if (played.waits.within(receiptMs - REQUEST_MS, receiptMs + REQUEST_MS) > REQUEST_MS / 2) return true;
  const isStop = ({ fault: { name } }: Played['faults'][number]) => name === 'stop';
  return isUnstored(played, receiptMs, receiptMs, againMs) || isDuring(played, isStop, receiptMs, againMs);
}

/** A process that ended early, or could not store the receipt. A stop in good order and in time excuses nothing. */
function isUnstored(played: Played, fromMs: number, readMs: number, againMs: number): boolean {
  const { bridge, waits } = played;
  const ended = bridge.gone.filter(({ how, code, tookMs }) => how !== 'stopped' || code !== 0 || tookMs >= GRACE_MS);
  const isFresh = (atMs: number) => atMs - readMs - waits.within(readMs, atMs) <= STORED_MS;
  if (ended.some(({ atMs }) => atMs >= fromMs && atMs <= againMs && isFresh(atMs))) return true;
  return isDuring(played, ({ fault: { kind, name } }) => kind === 'disk' || name === 'no-descriptors', fromMs, againMs);
}

function isDuring(
  { faults }: Played,
  isOne: (fault: Played['faults'][number]) => boolean,
  fromMs: number,
  toMs: number,
): boolean {
  return faults.some((fault) => isOne(fault) && fault.fromMs <= toMs && fault.toMs + STORED_MS >= fromMs);
}
