// What one machine tells of approvals → held against what was said to it and what it was answered.
import type { Settings } from '../history.ts';
import type { Observation } from '../observation.ts';
import type { Approvals } from './approvals.ts';
import type { Told } from './changes.ts';
import { firstArrivals, isDrill } from './changes-of-machine.ts';
import type { Json } from './expected-cloud-event.ts';
import type { Report } from './finding.ts';

/** A kill or a full disk so soon after an answer may come before it is stored. */
const STORED_MS = 30_000;

export function judgeApprovalEvents(
  seen: readonly Observation[],
  { accepted, voters }: Pick<Approvals, 'accepted' | 'voters'>,
  publishes: Settings['publish']['resources'],
  report: Report,
): void {
  const all = firstArrivals(seen, 'audit');
  const told = all.filter((each) => !isDrill(each) && String(each.event['type']).includes('.approval.'));
  const submitted = new Map<string, number>();
  for (const { id, atMs, event } of told) {
    const key = String(event['partitionkey']);
    const { approver } = event['data'] as Json;
    if (id.includes(':approval-submitted:')) submitted.set(key, (submitted.get(key) ?? 0) + 1);
    if (id.includes(':approval-recorded:') && !voters.get(key)?.has(String(approver)))
      report('invented', atMs, `${id}: ${approver} never said yes`);
  }
  const endMs = seen.at(-1)?.atMs ?? 0;
  for (const [key, count] of submitted)
    if (count > (accepted.get(key) ?? 0))
      report('invented', endMs, `${key}: ${count} times submitted, and accepted less often`);
  // Of an event that does not name this machine nothing is sent then.
  if (publishes === 'own') return;
  const doubtful = seen.flatMap((each) => (each.kind === 'gone' || each.kind === 'commit-failed' ? [each.atMs] : []));
  const isDoubtful = (atMs: number) => doubtful.some((otherMs) => Math.abs(otherMs - atMs) < STORED_MS);
  const posts = new Map(seen.flatMap((each) => (each.kind === 'posted' ? [[each.post, each] as const] : [])));
  const ends = endsIn(all);
  for (const each of seen) {
    if (each.kind !== 'answered' || each.status !== 200 || isDoubtful(each.atMs)) continue;
    const { eventIds = [], wallMs = 0 } = posts.get(each.post) ?? {};
    // If the end was told before the answer came, it came too late.
    const isLate = (key: string) => ends.get(key)?.some((endMs) => wallMs <= endMs && endMs <= each.wallMs) === true;
    for (const eventId of eventIds)
      if (!submitted.has(eventId.toLowerCase()) && !isLate(eventId.toLowerCase()))
        report('lost', each.atMs, `${eventId} was accepted, and no approval.submitted tells it`);
  }
}

/** By event: when its ends were told, by the clock of the machine. */
function endsIn(told: readonly Told[]): ReadonlyMap<string, readonly number[]> {
  const ended = told.filter(({ id }) => /:ended(:r\d+)?$/.test(id));
  const byKey = Map.groupBy(ended, ({ event }) => String(event['partitionkey']));
  return new Map([...byKey].map(([key, all]) => [key, all.map(({ event }) => Date.parse(String(event['time'])))]));
}
