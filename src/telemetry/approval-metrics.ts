// Steps of approvals, and the open ones at a scrape → metrics (docs/operate/metrics.md).
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import { APPROVAL_STATES, APPROVAL_STEPS, type ApprovalState } from '../model/approvals.ts';
import { boundedLabel } from './label-values.ts';
import type { NamedMetric } from './named-metric.ts';

const AWAITED = ['waiting', 'held'] as const;
const RESULTS: readonly string[] = [...APPROVAL_STEPS, 'denied'];

export interface ApprovalSnapshot {
  /** The state of each event that has approvals or holds. */
  readonly states: readonly ApprovalState[];
  /** How long the oldest accepted StartRequest has waited for its event to start; 0 without one. */
  readonly notStartedSeconds: number;
  /** Scheduled events that wait for an approver or for the release of a hold. */
  readonly awaited: readonly { readonly state: 'waiting' | 'held'; readonly notBefore: string }[];
  /** A hold of everything stands. */
  readonly isAllHeld: boolean;
}

interface ApprovalMetrics {
  /** Counts a step that was recorded, or a denied request. */
  counted(result: string): void;
  show(snapshot: ApprovalSnapshot): void;
}

export function createApprovalMetrics(of: NamedMetric): ApprovalMetrics {
  const total = new Counter(of('approvals_total', 'Approvals, by result.', ['result']));
  const events = new Gauge(of('approval_events', 'Events that have approvals or holds, by state.', ['state']));
  const age = new Gauge(
    of(
      'approval_not_started_seconds',
      'How long the oldest accepted StartRequest has waited for its event to start; 0 without one.',
      [],
    ),
  );
  const notBefore = new Gauge(
    of(
      'approval_earliest_not_before_timestamp_seconds',
      'Earliest NotBefore of the scheduled events that wait for approvers or are held, in Unix time; absent without one.',
      ['state'],
    ),
  );
  const holdsAll = new Gauge(
    of('holds_all', '1 while a hold of everything stands, so that the bridge submits nothing; else 0.', []),
  );
  const label = boundedLabel(RESULTS.length, RESULTS);
  for (const result of RESULTS) total.inc({ result }, 0);
  return {
    counted: (result) => total.inc({ result: label(result) }),
    show: ({ states, notStartedSeconds, awaited, isAllHeld }) => {
      holdsAll.set(Number(isAllHeld));
      for (const state of APPROVAL_STATES) events.set({ state }, states.filter((each) => each === state).length);
      age.set(notStartedSeconds);
      notBefore.reset();
      for (const state of AWAITED) {
        const times = awaited.filter((each) => each.state === state).map((each) => Date.parse(each.notBefore) / 1000);
        if (times.length > 0) notBefore.set({ state }, Math.min(...times));
      }
    },
  };
}
