// The model of a group + a seed → what its simulator found, and traces to play on real bridges.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MODEL = fileURLToPath(new URL('./group.qnt', import.meta.url));
const QUINT = fileURLToPath(import.meta.resolve('@informalsystems/quint/dist/src/cli.js'));

export const INVARIANTS = ['nothingForbidden', 'onceForEachRank', 'nobodyBeforeItsTurn'] as const;
/** Each must be reached, so that the invariants say something. */
export const WITNESSES = ['secondPosts', 'lostAnswers', 'postsAfterRelease'] as const;

/**
 * Each must be in a trace that is played: a hold is asked for at a bridge that was restarted shortly before its turn,
 * that was down at its turn, or that may have posted before its end.
 */
export const SITUATIONS = ['shortlyBeforeTurn', 'afterMissedTurn', 'inDoubt'] as const;
type Situation = (typeof SITUATIONS)[number];

/** One step of a trace. */
export interface TraceStep {
  readonly name: 'init' | 'say' | 'read' | 'tick' | 'kill' | 'arm' | 'restart' | 'restartCutOff' | 'hold' | 'start';
  /** -1 for a step that concerns no single bridge. */
  readonly bridge: number;
  readonly kind: '' | 'approve' | 'hold' | 'release';
  readonly approver: '' | 'orders' | 'billing';
  /** Of a step `hold`: whether the bridge accepts the hold. */
  readonly isHeld: boolean;
  readonly situation: Situation | '';
  /** Whether a bridge was killed after this step's StartRequest of it, before it stored the answer. */
  readonly lost: readonly number[];
}

/** A StartRequest: by which bridge, in which tick. */
export type TracePost = readonly [bridge: number, tick: number];

export interface Trace {
  /** What its steps lead to. */
  readonly plan: Situation | 'chance';
  readonly steps: readonly TraceStep[];
  /** In the order of the model: by time. */
  readonly posts: readonly TracePost[];
}

interface Exploration {
  /** What the simulator of the model printed. */
  readonly report: string;
  readonly isClean: boolean;
  readonly traces: readonly Trace[];
}

/** Explores the model at random. The same seed gives the same traces, with as many of each plan as possible. */
export function explore(
  folder: string,
  { seed, samples, steps, traces }: Record<'seed' | 'samples' | 'steps' | 'traces', number>,
): Exploration {
  const found = spawnSync(
    process.execPath,
    [
      ...[QUINT, 'run', '--backend', 'typescript', '--seed', String(seed)],
      ...['--max-samples', String(samples), '--max-steps', String(steps), '--n-traces', String(samples)],
      ...['--invariants', ...INVARIANTS, '--witnesses', ...WITNESSES, '--verbosity', '1'],
      ...['--out-itf', join(folder, 'trace_{seq}.itf.json'), MODEL],
    ],
    { encoding: 'utf8', timeout: 110_000 },
  );
  const report = `${found.stdout}${found.stderr}`;
  const files = globSync(join(folder, 'trace_*.itf.json')).sort();
  const all = files.map((file) => traceOf(readFileSync(file, 'utf8')));
  return { report, isClean: found.status === 0, traces: ofEachPlan(all).slice(0, traces) };
}

/** So many traces of chance come with one of each situation. */
const CHANCE_EACH = SITUATIONS.length;

/** In rounds: as many traces of chance as of all situations. */
function ofEachPlan(traces: readonly Trace[]): readonly Trace[] {
  const byPlan = Map.groupBy(traces, ({ plan }) => plan);
  const rounds = [...byPlan].flatMap(([plan, list]) =>
    list.map((trace, index) => ({ trace, round: Math.floor(index / (plan === 'chance' ? CHANCE_EACH : 1)) })),
  );
  return rounds.toSorted((one, other) => one.round - other.round).map(({ trace }) => trace);
}

interface ModelPost {
  readonly bridge: number;
  readonly at: number;
  readonly isLost: boolean;
}

interface ModelState {
  readonly last: Omit<TraceStep, 'lost'>;
  readonly posts: readonly ModelPost[];
  readonly plan: Trace['plan'];
}

/** The Informal Trace Format writes whole numbers as `{ "#bigint": "1" }`. */
function traceOf(text: string): Trace {
  const { states } = JSON.parse(text, (_, value) =>
    value?.['#bigint'] === undefined ? value : Number(value['#bigint']),
  ) as {
    readonly states: readonly ModelState[];
  };
  const steps = states.map(({ last, posts }, index): TraceStep => {
    const before = states[index - 1]?.posts.length ?? 0;
    return { ...last, lost: posts.slice(before).flatMap(({ bridge, isLost }) => (isLost ? [bridge] : [])) };
  });
  const posts = states.at(-1)?.posts ?? [];
  return { plan: states[0]?.plan ?? 'chance', steps, posts: posts.map(({ bridge, at }) => [bridge, at]) };
}
