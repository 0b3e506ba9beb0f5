// A drill's report and what was expected → what did not come, in words. Pure.
import type { DrillReport } from '../../drills/report.ts';

export const EXPECTATIONS = ['approvals', 'deliveries'] as const;
export type Expectation = (typeof EXPECTATIONS)[number];

/** Whether every sink whose filter let it through has accepted every change. */
export function isAccepted({ changes }: DrillReport): boolean {
  return changes.every(({ sinks }) => sinks.every(({ acceptedAt }) => acceptedAt !== null));
}

/** One sentence for each that failed. */
export function failures(report: DrillReport, expected: readonly Expectation[]): readonly string[] {
  return expected.flatMap((expectation) => (expectation === 'approvals' ? unapproved(report) : undelivered(report)));
}

/** What is approved in time is submitted before it starts: at its NotBefore nobody can any more. */
function unapproved({ changes, approvers, missing }: DrillReport): readonly string[] {
  if (changes.some(({ change }) => change === 'approval.submitted')) return [];
  return [`not approved before NotBefore${missing.length > 0 ? `: no yes of ${missing.join(', ')}` : unsubmitted(approvers.length)}`];
}

/** Nobody's yes was missing. */
function unsubmitted(yeses: number): string {
  return yeses === 0 ? '' : ': all who had to said yes, but a hold, approvals.dryRun or the end of the drill stood against it';
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
