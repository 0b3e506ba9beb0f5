// A drill's report and the expectations → one sentence for each that failed. Pure.
import type { DrillReport } from '../../drills/report.ts';

export const EXPECTATIONS = ['approvals', 'deliveries'] as const;
export type Expectation = (typeof EXPECTATIONS)[number];

/** Whether every sink has accepted every change that its filter selects. */
export function isAccepted({ changes }: DrillReport): boolean {
  return changes.every(({ sinks }) => sinks.every(({ acceptedAt }) => acceptedAt !== null));
}

/** Returns one sentence for each failed expectation. */
export function failures(report: DrillReport, expected: readonly Expectation[]): readonly string[] {
  return expected.flatMap((expectation) => (expectation === 'approvals' ? unapproved(report) : undelivered(report)));
}

/** An event that was approved in time is submitted before its NotBefore; after that, nobody can approve it. */
function unapproved({ changes, approvers, missing }: DrillReport): readonly string[] {
  if (changes.some(({ change }) => change === 'approval.submitted')) return [];
  return [`not approved before NotBefore${missing.length > 0 ? `: no approval by ${missing.join(', ')}` : unsubmitted(approvers.length)}`];
}

/** For a full quorum. */
function unsubmitted(approvals: number): string {
  return approvals === 0
    ? ''
    : ': all required approvers approved, but a hold, approvals.dryRun or the end of the drill prevented the StartRequest';
}

function undelivered({ changes }: DrillReport): readonly string[] {
  return changes.flatMap(({ change, sinks }) =>
    sinks.flatMap(({ name, acceptedAt, attempts }) =>
      acceptedAt === null
        ? [`the sink ${name} has not accepted ${change}, after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`]
        : [],
    ),
  );
}
