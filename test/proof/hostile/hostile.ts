// Part 8 of the proof: hostile inputs of each kind by a seed, tried on every reader of its kind.
import { type Counts, FAULTS, NOTHING, type Part, type ProofOptions } from '../part.ts';
import { inParallel, turns } from '../turns.ts';
import { keep, lineOf } from './kept.ts';
import { KINDS, type Target } from './target.ts';
import { TARGETS } from './targets.ts';
import type { Failure } from './trial.ts';
import { WatchedThread } from './watched-thread.ts';
import type { Batch, Done } from './worker.ts';

/** Cases of each kind in one turn. The targets of a kind share them. */
const TURN = 1000;
/** One target fails the same way again and again: no further case is begun after so many. */
const MOST_FAILURES = 5;
/** Longer inputs are not printed. */
const MOST_PRINTED = 2000;

export const hostile: Part = {
  name: 'hostile',
  run: async (options) => {
    const { seed, jobs, minutes } = options;
    const figures = new Map(targetsOf(options).map((target) => [target.name, new Figures(target)]));
    const batches = plannedBatches(options, figures);
    const work = async () => {
      await using thread = new WatchedThread();
      for (const batch of batches) figures.get(batch.target)?.add(batch, await thread.run(batch));
    };
    await inParallel(jobs, work);
    const all = [...figures.values()];
    for (const kind of KINDS) tellKind(kind, all, options);
    const failures = all.flatMap((each) => each.failures);
    // Adds them to the kept cases.
    if (process.env['HOSTILE_KEEP']) keep(failures);
    const most = Math.max(0, ...all.map(({ cases, share }) => (cases / share) * TURN));
    return countsOf(failures, seed, minutes === null ? {} : { cases: most });
  },
};

/** The slow ones first, so that no process waits for another's at the end. */
function targetsOf({ only }: ProofOptions): readonly Target[] {
  const chosen = TARGETS.filter(({ name, kind }) => only === null || `${kind}: ${name}`.includes(only));
  if (chosen.length === 0) throw new Error(`no reader's name has "${only}" in it`);
  return chosen.toSorted((one, other) => Number(isSlow(other)) - Number(isSlow(one)));
}

/** All that is YAML: its parser takes most of the time of this part. */
const isSlow = ({ kind }: Target): boolean => kind === 'configuration';

/** Turns of all kinds, until each kind has its cases, or the time is over. A turn that was begun is ended. */
function* plannedBatches(
  { seed, cases, minutes }: ProofOptions,
  figures: ReadonlyMap<string, Figures>,
): Generator<Batch> {
  for (const turn of turns(minutes, (turn) => turn * TURN >= cases))
    for (const [target, { share, failures }] of figures)
      if (failures.length < MOST_FAILURES) yield { target, seed, from: turn * share, cases: share };
}

/** What was done with one target so far. */
class Figures {
  readonly target: Target;
  /** Its cases in each turn. */
  readonly share: number;
  readonly failures: Failure[] = [];
  cases = 0;
  ms = 0;
  bytes = 0;
  slowestMs = 0;

  constructor(target: Target) {
    this.target = target;
    this.share = Math.ceil(TURN / TARGETS.filter(({ kind }) => kind === target.kind).length);
  }

  add(batch: Batch, { failures, ms, bytes, slowestMs }: Done): void {
    this.failures.push(...failures);
    this.cases += batch.cases;
    this.ms += ms;
    this.bytes += bytes;
    this.slowestMs = Math.max(this.slowestMs, slowestMs);
  }
}

function tellKind(kind: string, figures: readonly Figures[], { log }: ProofOptions): void {
  const own = figures.filter(({ target }) => target.kind === kind);
  if (own.length === 0) return;
  const sum = (of: (each: Figures) => number) => own.reduce((total, each) => total + of(each), 0);
  const cases = sum((each) => each.cases);
  const aSecond = ((cases / sum((each) => each.ms)) * 1000).toFixed(0);
  const bytes = (sum((each) => each.bytes) / cases).toFixed(0);
  const slowest = Math.max(...own.map(({ slowestMs }) => slowestMs)).toFixed(0);
  log(
    `hostile: ${kind}: ${cases} cases for ${own.length} readers, ${aSecond} a second, ${bytes} bytes each, slowest ${slowest} ms`,
  );
}

function countsOf(failures: readonly Failure[], seed: number, repeatedBy: Counts['repeatedBy']): Counts {
  const count = (fault: string) => failures.filter((failure) => failure.fault === fault).length;
  return {
    ...NOTHING,
    ...Object.fromEntries(FAULTS.map((fault) => [fault, count(fault)])),
    problems: failures.map((failure) => told(failure, seed)),
    repeatedBy,
  };
}

function told(failure: Failure, seed: number): string {
  const { target, index, why, fault } = failure;
  const line = lineOf(failure);
  const printed = line.length <= MOST_PRINTED ? line : `${line.length} characters; HOSTILE_KEEP=1 adds it`;
  const counted = fault === undefined ? '' : ` (${fault})`;
  return `${target}, case ${index} of seed ${seed}${counted}: ${why}\nfor kept-cases.jsonl: ${printed}`;
}
