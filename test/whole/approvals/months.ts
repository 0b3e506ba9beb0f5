// Random months → the bridge approves what the oracle does, alone, restarted and in a group.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type History, historyOf, type Month } from '../../virtual/month-oracle.ts';
import { FAILOVER_MS, MEMBERS, playMonth } from '../../virtual/played-month.ts';
import { randomMonth } from '../../virtual/random-month.ts';

type Posts = readonly (readonly [eventId: string, atMs: number])[];

/** What a machine posts: at its turn, which comes after those of the machines that an event names. */
function expected({ maintenances }: Month, { moments, approved }: History, member: number | null): Posts {
  const votes = new Map(
    moments.flatMap(({ atMs, commands }) =>
      commands.flatMap(({ kind, maintenance }) => (kind === 'vote' ? [[maintenance.eventId, atMs] as const] : [])),
    ),
  );
  return [...approved].map(([eventId, atMs]) => {
    const names = new Set(
      maintenances.find((each) => each.eventId === eventId)?.resources.map((name) => name.toLowerCase()),
    );
    const isOfRule = (votes.get(eventId) ?? Number.POSITIVE_INFINITY) > atMs;
    return [eventId, atMs + (member === null || !isOfRule ? 0 : (names.size + member) * FAILOVER_MS)] as const;
  });
}

/** At most five StartRequests are sent in a second, so the last of eight comes two seconds after the first. */
const QUEUE_MS = 3000;

/** Each is posted when it may be, or when there is room for it. */
function assertPosted(posted: Posts, wanted: Posts, who: string): void {
  const byId = (posts: Posts) => posts.toSorted(([one], [other]) => (one < other ? -1 : 1));
  const found = byId(posted);
  const inTime = byId(wanted).map(([eventId, atMs], index): Posts[number] => {
    const [, foundMs = atMs] = found[index] ?? [];
    return [eventId, foundMs >= atMs && foundMs <= atMs + QUEUE_MS ? foundMs : atMs];
  });
  assert.deepEqual(found, inTime, who);
}

/** Throws for the shortest month that the bridge and the oracle decide differently. */
export async function playMonths(runs: number, seed: number): Promise<void> {
  let approvals = 0;
  await fc.assert(
    fc.asyncProperty(randomMonth, async ({ month, restarts }) => {
      const history = historyOf(month);
      approvals += history.approved.size;
      const alone = expected(month, history, null);
      assertPosted(await playMonth(month, history), alone, 'alone');
      if (restarts.length > 0) assertPosted(await playMonth(month, history, { restarts }), alone, 'restarted');
      const index = month.maintenances.length % MEMBERS.length;
      const member = MEMBERS[index];
      if (member !== undefined)
        assertPosted(await playMonth(month, history, { restarts, member }), expected(month, history, index), member);
    }),
    { numRuns: runs, seed, endOnFailure: false },
  );
  assert.ok(approvals > runs / 2, `only ${approvals} approvals in ${runs} months`);
}
