// What one group delivered of one event → the same of many groups at once, each with its own event.
import { guidOf } from '../simulation/chance.ts';
import type { Copy } from './group-judge.ts';

/** A record of one machine of the fleet, and when it comes, counted from the begin of the herd. */
export interface FleetRecord {
  readonly machine: number;
  readonly atMs: number;
  readonly id: string;
  readonly bytes: Uint8Array;
}

/**
 * @param traffic of a group whose machines are counted from 0
 * @param perGroup so many machines
 */
export function replayed(
  traffic: readonly Copy[],
  options: { readonly seed: number; readonly groups: number; readonly perGroup: number },
): readonly FleetRecord[] {
  const beginMs = Math.min(...traffic.map(({ atMs }) => atMs));
  const [first] = traffic;
  if (first === undefined) return [];
  const eid = first.id.slice(0, first.id.indexOf(':'));
  return Array.from({ length: options.groups }, (_, group) => {
    const other = guidOf('replayed', options.seed, group);
    return traffic.map(({ machine, atMs, id, text }) => ({
      machine: group * options.perGroup + machine,
      atMs: atMs - beginMs,
      id: id.replace(eid, other.toLowerCase()),
      bytes: new TextEncoder().encode(
        text
          .replaceAll(eid, other.toLowerCase())
          .replaceAll(eid.toUpperCase(), other)
          .replaceAll(eid.replaceAll('-', ''), other.toLowerCase().replaceAll('-', '')),
      ),
    }));
  }).flat();
}
