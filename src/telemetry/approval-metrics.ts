// Approvals' steps, and the open ones at a scrape → metrics (docs/operate/metrics.md).
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import { APPROVAL_STATES, APPROVAL_STEPS, type ApprovalState } from '../model/approvals.ts';
import { boundedLabel } from './label-values.ts';
import type { NamedMetric } from './named-metric.ts';

const RESULTS: readonly string[] = [...APPROVAL_STEPS, 'denied'];

export interface ApprovalSnapshot {
  /** The state of the approvals of each event that has any. */
  readonly states: readonly ApprovalState[];
  /** How long the oldest StartRequest that was accepted has waited for its event to start; 0 without one. */
  readonly notStartedSeconds: number;
}

export interface ApprovalMetrics {
  /** A line of the record of an event was written, or a request denied. */
  counted(result: string): void;
  show(snapshot: ApprovalSnapshot): void;
}

export function createApprovalMetrics(of: NamedMetric): ApprovalMetrics {
  const total = new Counter(of('approvals_total', 'Approvals, by what became of them.', ['result']));
  const events = new Gauge(of('approval_events', 'Events that have approvals or holds, by the state of those.', ['state']));
  const age = new Gauge(
    of('approval_not_started_seconds', 'How long the oldest accepted StartRequest has waited for its event to start; 0 without one.', []),
  );
  const label = boundedLabel(RESULTS.length, RESULTS);
  for (const result of RESULTS) total.inc({ result }, 0);
  return {
    counted: (result) => total.inc({ result: label(result) }),
    show: ({ states, notStartedSeconds }) => {
      for (const state of APPROVAL_STATES) events.set({ state }, states.filter((each) => each === state).length);
      age.set(notStartedSeconds);
    },
  };
}
