// The time in a CloudEvent, and the clock of its machine → when it may have been made.
import type { Observation } from '../observation.ts';
import type { Json } from './expected-cloud-event.ts';

/**
 * When the CloudEvent may have been made, in virtual time: once, or several times if the clock was set back and showed
 * this time again before the CloudEvent arrived.
 */
export function madeAt(
  { event, atMs }: { readonly event: Json; readonly atMs: number },
  seen: readonly Observation[],
): readonly number[] {
  const madeWallMs = Date.parse(String(event['time']));
  const times: number[] = [];
  let aheadMs = Number.NaN;
  let fromMs = Number.NEGATIVE_INFINITY;
  const add = (untilMs: number) => {
    const madeMs = madeWallMs - aheadMs;
    if (madeMs >= fromMs && madeMs <= untilMs) times.push(madeMs);
  };
  for (const each of seen) {
    if (each.atMs > atMs) break;
    if (each.wallMs - each.atMs === aheadMs) continue;
    add(each.atMs);
    if (!Number.isNaN(aheadMs)) fromMs = each.atMs;
    aheadMs = each.wallMs - each.atMs;
  }
  add(atMs);
  return times;
}
