// A month and its history → the approvals that a bridge posts in virtual time, with restarts.
import type { Approvals } from '../../src/approvals/approvals.ts';
import { type ApprovalSettings, ApprovalsFixture, approve, caller, reopened } from './approvals-fixture.ts';
import { type History, type Maintenance, MINUTE_MS, type Moment, type Month } from './month-oracle.ts';

/** Machines of a group that the events do not name: they post after those that they name. */
export const MEMBERS = ['member_0', 'member_1'] as const;
export const FAILOVER_MS = 5000;

/** Returns by EventId when the bridge posted, in milliseconds since the begin of the month, in order. */
export async function playMonth(
  month: Month,
  { moments }: History,
  { member, restarts = [] }: { readonly member?: (typeof MEMBERS)[number]; readonly restarts?: readonly number[] } = {},
): Promise<readonly (readonly [eventId: string, atMs: number])[]> {
  const { policy, windows, budgets, startMs } = month;
  const settings: ApprovalSettings = {
    ...{ policy, windows, budgets, approvers: { orders: { admin: true } } },
    ...(member && { ownName: member, group: { submit: 'leader', failoverAfterMs: FAILOVER_MS, members: MEMBERS } }),
  };
  const fixture = new ApprovalsFixture();
  fixture.time.jumpWall(startMs - fixture.time.wallMs());
  let approvals: Approvals = fixture.open(settings);
  const kills = restarts.map((minute) => ({ atMs: minute * MINUTE_MS + 45_000 }));
  const steps = [...moments, ...kills].toSorted((one, other) => one.atMs - other.atMs);
  for (const step of steps) {
    await fixture.time.advance(step.atMs - fixture.time.elapsedMs());
    if ('shown' in step) await play(fixture, approvals, month, step);
    else {
      approvals = reopened(fixture, settings);
      fixture.poll();
      await fixture.time.advance(0);
    }
  }
  await fixture.time.advance(MINUTE_MS);
  await fixture.close(approvals);
  return fixture.posts.flatMap(({ eventIds, atMs }) => eventIds.map((eventId) => [eventId, atMs] as const));
}

async function play(fixture: ApprovalsFixture, approvals: Approvals, month: Month, moment: Moment): Promise<void> {
  for (const { kind, maintenance, notBeforeMs } of moment.shown) {
    const { eventId, eventType, resources } = maintenance;
    const notBefore = notBeforeMs === null ? null : new Date(month.startMs + notBeforeMs).toISOString();
    if (kind === 'ended') fixture.end(eventId);
    else if (kind === 'started') fixture.list(eventId, { eventStatus: 'Started', notBefore: null });
    else fixture.list(eventId, { eventStatus: 'Scheduled', eventType, resources, notBefore });
  }
  if (moment.shown.length > 0) fixture.poll();
  await fixture.time.advance(0);
  for (const command of moment.commands) {
    await say(approvals, command.kind, command.maintenance);
    await fixture.time.advance(0);
  }
}

async function say(
  approvals: Approvals,
  kind: Moment['commands'][number]['kind'],
  { eventId }: Maintenance,
): Promise<void> {
  const orders = caller('orders');
  if (kind === 'hold') approvals.hold(orders, { EventId: eventId });
  else if (kind === 'release') approvals.release(orders, eventId, null);
  // Its answer waits for what is held; nobody reads it.
  else void approve(approvals, 'orders', eventId);
}
