// What `started` says of an approval → held against the holds and votes that the bridge had then.
import type { Observation } from '../observation.ts';
import type { Approvals } from './approvals.ts';
import { firstArrivals, isDrill } from './changes-of-machine.ts';
import type { Json } from './expected-cloud-event.ts';
import type { Report } from './finding.ts';

/** A start under a confirmed hold was not approved here, and nobody is said to have approved who never did. */
export function judgeStarts(
  seen: readonly Observation[],
  { startedUnderHold, voters }: Pick<Approvals, 'startedUnderHold' | 'voters'>,
  report: Report,
): void {
  for (const told of firstArrivals(seen, 'audit')) {
    if (isDrill(told) || !String(told.event['type']).endsWith('.started.v1')) continue;
    const data = told.event['data'] as Json;
    const approval = (data['observer'] as Json)['approval'] as Json | undefined;
    if (approval === undefined) continue;
    const key = String(told.event['partitionkey']);
    const incomplete = (approval['approvedBy'] as readonly string[]).filter((name) => !voters.get(key)?.has(name));
    if (incomplete.length > 0)
      report('altered', told.atMs, `${told.id} is told as approved by ${incomplete.join(', ')}, who never said yes`);
    const heldMs = startedUnderHold.get(key);
    if (heldMs !== undefined && heldMs <= told.atMs && told.id === `${key}:started`)
      report('altered', told.atMs, `${told.id} is told as approved, and started at ${heldMs} ms under a hold`);
  }
}
