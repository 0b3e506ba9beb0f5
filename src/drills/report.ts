// A drill, its journal and its votes → a report of what each sink and approver did. Pure.
import { toRfc3339 } from '../formats/dates.ts';
import type { ApprovalVote } from '../model/approvals.ts';
import { type Drill, type DrillState, drillState } from '../model/drills.ts';
import type { DeliveryState, JournalChange, JournalDelivery } from '../model/operators.ts';

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
    readonly sinks: readonly SinkReport[];
  }[];
  readonly approvers: readonly { readonly name: string; readonly at: string }[];
  /**
   * The approvers that were missing when it started or was cancelled; while it is scheduled, those that are missing
   * now.
   */
  readonly missing: readonly string[];
}

/** The deliveries of one change to one sink. */
export interface SinkReport {
  readonly name: string;
  /** `delivered` if one of them was accepted, else the state of the newest. */
  readonly state: DeliveryState;
  /** Null if none was accepted. */
  readonly acceptedAt: string | null;
  readonly attempts: number;
  /** Of the delivery with this state: the last answer of the other side if it failed, else null. */
  readonly status: number | string | null;
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
function sinkIn(name: string, deliveries: readonly JournalDelivery[]): SinkReport {
  const accepted = deliveries.filter(({ state }) => state === 'delivered').sort((one, other) => one.atMs - other.atMs);
  const shown = accepted[0] ?? deliveries.at(-1);
  return {
    name,
    state: shown?.state ?? 'queued',
    acceptedAt: accepted[0] === undefined ? null : toRfc3339(accepted[0].atMs),
    attempts: deliveries.reduce((sum, { attempts }) => sum + attempts, 0),
    status: shown?.status ?? null,
  };
}
