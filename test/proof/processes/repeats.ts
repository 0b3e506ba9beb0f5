// A receipt and a repeat → whether a lost answer, a kill or a failing disk explains the repeat.
import type { Arrival } from './far-sides.ts';
import type { Played } from './played.ts';

/** A receipt is stored at the latest so long after it came. */
const STORED_MS = 3000;

/** Repeats at far sides that do not tell the time are explained by any fault that could explain one. */
export function isExplained(played: Played, sink: string, first: Arrival, again: Arrival): boolean {
  const fromMs = first.atMs ?? Number.NEGATIVE_INFINITY;
  const toMs = again.atMs ?? Number.POSITIVE_INFINITY;
  return mayLoseAnswers(sink) || isPostExplained(played, fromMs, toMs);
}

/** A process that ended early, stood still, or could not store the receipt. */
export function isPostExplained({ bridge, faults }: Played, fromMs: number, toMs: number): boolean {
  const isFirstTold = Number.isFinite(fromMs);
  if (bridge.gone.some(({ atMs }) => atMs >= fromMs && atMs <= toMs && (!isFirstTold || atMs - fromMs <= STORED_MS)))
    return bridge.gone.length > 0;
  return faults.some(
    ({ fault, fromMs: begunMs, toMs: overMs }) =>
      (fault.name === 'stop' || fault.kind === 'disk' || fault.name === 'no-descriptors') &&
      begunMs <= toMs &&
      overMs + STORED_MS >= fromMs,
  );
}

/** Sinks that have faults have a limit of 1 s, which a busy machine breaks by itself: only the others prove a repeat. */
function mayLoseAnswers(sink: string): boolean {
  return !['audit', 'away', 'file', 'syslog'].includes(sink);
}
