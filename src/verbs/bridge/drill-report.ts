// The report of a drill → lines on a terminal, and one sentence for each failed expectation. Pure.
import type { DrillReport, SinkReport } from '../../drills/report.ts';
import type { Colour } from '../verb.ts';
import { attemptWords } from './attempt-words.ts';
import type { ShownSink } from './status-view.ts';

export const EXPECTATIONS = ['approvals', 'deliveries'] as const;
export type Expectation = (typeof EXPECTATIONS)[number];

/** Returns one sentence for each failed expectation. */
export function failures(report: DrillReport, expected: readonly Expectation[]): readonly string[] {
  return expected.flatMap((expectation) => (expectation === 'approvals' ? unapproved(report) : undelivered(report)));
}

/** An event that was approved in time is submitted before its NotBefore; after that, nobody can approve it. */
function unapproved({ changes, approvers, missing }: DrillReport): readonly string[] {
  if (changes.some(({ change }) => change === 'approval.submitted')) return [];
  return [
    `not approved before NotBefore${missing.length > 0 ? `: no approval by ${missing.join(', ')}` : unsubmitted(approvers.length)}`,
  ];
}

/** For a full quorum. */
function unsubmitted(approvals: number): string {
  return approvals === 0
    ? ''
    : ': all required approvers approved, but a hold, approvals.dryRun or the end of the drill prevented the StartRequest';
}

function undelivered({ changes }: DrillReport): readonly string[] {
  return changes.flatMap(({ change, sinks }) =>
    sinks.filter(({ acceptedAt }) => acceptedAt === null).map((sink) => sinkFailure(change, sink)),
  );
}

function sinkFailure(change: string, sink: SinkReport): string {
  return isGivenUp(sink)
    ? `the bridge gave up ${change} for the sink ${sink.name}, ${attemptWords(sink)}`
    : `the sink ${sink.name} has not accepted ${change}, ${attemptWords(sink)}`;
}

function isGivenUp({ state, acceptedAt }: SinkReport): boolean {
  return acceptedAt === null && (state === 'dead' || state === 'discarded');
}

/** Returns whether nothing more is expected: each sink has accepted each change, or its delivery was given up. */
export function isSettled({ changes }: DrillReport): boolean {
  return changes.every(({ sinks }) => sinks.every((sink) => sink.acceptedAt !== null || isGivenUp(sink)));
}

const ACTS: Readonly<Record<string, string>> = {
  command: 'runs its program',
  kubernetes: 'drains the node of the machine, unless it has drills: false',
};

/** Returns one line for each sink that acts on the machine, also for a drill, if its filter selects it. */
export function actingLines(sinks: readonly Pick<ShownSink, 'name' | 'type'>[]): readonly string[] {
  return sinks.flatMap(({ name, type }) =>
    Object.hasOwn(ACTS, type) ? [`this drill is real for the sink ${name} (${type}): it ${ACTS[type]}`] : [],
  );
}

interface Line {
  readonly text: string;
  readonly colour?: Colour;
}

/** Returns the report in plain words: each change with its sinks, then who approved and who did not. */
export function reportLines({ eventId, state, changes, approvers, missing }: DrillReport): readonly Line[] {
  const firstMs = Date.parse(changes[0]?.at ?? '');
  const after = (at: string) => `${Math.round((Date.parse(at) - firstMs) / 100) / 10} s`;
  return [
    { text: `drill ${eventId}: ${state}` },
    ...changes.flatMap(({ change, at, sinks }) => [
      { text: `${at}  ${change}` },
      ...sinks.map((sink) => sinkLine(at, sink)),
    ]),
    {
      text:
        approvers.length > 0
          ? `approved by ${approvers.map(({ name, at }) => `${name} after ${after(at)}`).join(', ')}`
          : 'approved by nobody',
    },
    ...(missing.length > 0 ? [{ text: `not approved by ${missing.join(', ')}`, colour: 'yellow' as const }] : []),
  ];
}

function sinkLine(at: string, sink: SinkReport): Line {
  const { name, acceptedAt } = sink;
  if (acceptedAt !== null)
    return { text: `  ${name}: accepted after ${Math.max(0, Date.parse(acceptedAt) - Date.parse(at))} ms` };
  return isGivenUp(sink)
    ? { text: `  ${name}: given up ${attemptWords(sink)}`, colour: 'red' }
    : { text: `  ${name}: not accepted yet, ${attemptWords(sink)}`, colour: 'yellow' };
}
