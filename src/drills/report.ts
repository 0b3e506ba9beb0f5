// A drill, its journal and its votes → what each sink and each approver did. Pure.
import { toRfc3339 } from '../formats/dates.ts';
import type { ApprovalVote } from '../model/approvals.ts';
import { type Drill, type DrillState, drillState } from '../model/drills.ts';
import type { JournalChange, JournalDelivery } from '../model/operators.ts';

/** Times are RFC 3339. */
export interface DrillReport {
  readonly id: string;
  readonly eventId: string;
  readonly state: DrillState;
  /** In the order in which they were published; approvals too. */
  readonly changes: readonly {
    readonly change: string;
    readonly at: string;
    /** Those whose filter let it through. */
    readonly sinks: readonly { readonly name: string; readonly acceptedAt: string | null; readonly attempts: number }[];
  }[];
  /** Who said yes. */
  readonly approvers: readonly { readonly name: string; readonly at: string }[];
  /** Whose yes it lacked when it started, or was cancelled; while it is scheduled, whose it lacks. */
  readonly missing: readonly string[];
}

interface ReportParts {
  readonly drill: Drill;
  readonly changes: readonly JournalChange[];
  readonly votes: readonly ApprovalVote[];
  readonly missingNow: readonly string[];
}

export function drillReport({ drill, changes, votes, missingNow }: ReportParts): DrillReport {
  const state = drillState(drill);
  return {
    id: drill.id,
    eventId: drill.event.eventId,
    state,
    changes: changes.map(({ change, atMs, deliveries: all }) => ({
      change,
      at: toRfc3339(atMs),
      sinks: [...Map.groupBy(all, ({ sink }) => sink)].map(([name, deliveries]) => sinkIn(name, deliveries)),
    })),
    approvers: votes.map(({ approver, at }) => ({ name: approver, at: toRfc3339(at.wallMs) })),
    missing: state === 'scheduled' ? missingNow : drill.missing,
  };
}

/** A sink that got it again, by a retry or a replay, has several deliveries: the first that was accepted counts. */
function sinkIn(name: string, deliveries: readonly JournalDelivery[]): DrillReport['changes'][number]['sinks'][number] {
  const acceptedMs = deliveries.filter(({ state }) => state === 'delivered').map(({ atMs }) => atMs);
  const attempts = deliveries.reduce((sum, delivery) => sum + delivery.attempts, 0);
  return { name, acceptedAt: acceptedMs.length === 0 ? null : toRfc3339(Math.min(...acceptedMs)), attempts };
}
