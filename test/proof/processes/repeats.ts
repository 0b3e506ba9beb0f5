// A receipt and a repeat → whether a lost answer, a kill or a failing disk explains the repeat.
import type { Arrival } from './far-sides.ts';
import type { Played } from './played.ts';

/** A receipt is stored at the latest so long after it came. */
const STORED_MS = 3000;
/** The limit of a request to a sink that has faults. */
const TIMEOUT_MS = 1000;

/** Repeats at far sides that do not tell the time are explained by any fault that could explain one. */
export function isExplained(played: Played, sink: string, first: Arrival, again: Arrival): boolean {
  const fromMs = first.atMs ?? Number.NEGATIVE_INFINITY;
  const toMs = again.atMs ?? Number.POSITIVE_INFINITY;
  return isPostExplained(played, fromMs, toMs) || isAnswerLost(played, sink, fromMs, toMs);
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

function isAnswerLost({ faults }: Played, sink: string, fromMs: number, toMs: number): boolean {
  if (['audit', 'away', 'file', 'syslog'].includes(sink)) return false;
  // On a busy machine an answer may come within the limit and be read behind it.
  if (toMs - fromMs >= TIMEOUT_MS) return true;
  return faults.some(
    ({ fault, fromMs: begunMs, toMs: overMs }) =>
      (fault.kind === 'sink' || fault.kind === 'broker') &&
      begunMs - TIMEOUT_MS <= toMs &&
      overMs + TIMEOUT_MS >= fromMs,
  );
}
