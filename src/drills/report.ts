// A drill, its journal and its votes → a report of what each sink and approver did. Pure.
import { toRfc3339 } from '../formats/dates.ts';
import type { ApprovalVote } from '../model/approvals.ts';
import { type Drill, type DrillState, drillState } from '../model/drills.ts';
import type { JournalChange, JournalDelivery } from '../model/operators.ts';

/** Times are RFC 3339. */
export interface DrillReport {
  readonly id: string;
  readonly eventId: string;
  readonly state: DrillState;
  /** In the order of publication, including approvals. */
  readonly changes: readonly {
    readonly change: string;
    readonly at: string;
    /** The sinks that received it, by their filters. */
    readonly sinks: readonly { readonly name: string; readonly acceptedAt: string | null; readonly attempts: number }[];
  }[];
  readonly approvers: readonly { readonly name: string; readonly at: string }[];
  /**
   * The approvers that were missing when it started or was cancelled; while it is scheduled, those that are missing
   * now.
   */
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

/** A sink has several deliveries after a retry of a dead letter or a replay: the first accepted one counts. */
function sinkIn(name: string, deliveries: readonly JournalDelivery[]): DrillReport['changes'][number]['sinks'][number] {
  const acceptedMs = deliveries.filter(({ state }) => state === 'delivered').map(({ atMs }) => atMs);
  const attempts = deliveries.reduce((sum, delivery) => sum + delivery.attempts, 0);
  return { name, acceptedAt: acceptedMs.length === 0 ? null : toRfc3339(Math.min(...acceptedMs)), attempts };
}
