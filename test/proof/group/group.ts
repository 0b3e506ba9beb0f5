// Part 7 of the proof: random traces of a model of a group, played by real bridges in virtual time.
import { createHash } from 'node:crypto';
import { temporaryFolder } from '../../virtual/outbox-fixture.ts';
import { inScope } from '../cost/scope.ts';
import { added, countsOfError, expect } from '../found-fault.ts';
import { type Counts, NOTHING, type Part, type ProofOptions } from '../part.ts';
import { turns } from '../turns.ts';
import { Player } from './player.ts';
import { explore, SITUATIONS, type Trace, type TracePost, WITNESSES } from './traces.ts';

/** The model is explored with so many times the traces that are played. */
const SAMPLES_EACH = 5;
const STEPS = 60;
/** Traces of one exploration of the model. */
const BATCH = 20;
/** Between the seeds of two explorations. */
const STEP = 1_000_003;

export const group: Part = {
  name: 'group',
  run: async (options) => {
    const { minutes, log } = options;
    const played: Counts[] = [];
    const reports: string[] = [];
    const situations = new Set<string>();
    const digest = createHash('sha256');
    for (const batch of turns(minutes, () => played.length >= options.traces)) {
      const { traces, report, seed } = await explored(options, batch);
      reports.push(report);
      for (const [index, trace] of traces.entries()) {
        const { posts, counts } = await playedTrace(trace, `trace ${index} of the model's seed ${seed}`);
        digest.update(JSON.stringify([trace.posts, posts]));
        played.push(counts);
        for (const { situation } of trace.steps) situations.add(situation);
      }
      log(`group: the model's seed ${seed}: ${traces.length} traces of ${STEPS} steps at most`);
    }
    const unseen = [
      ...WITNESSES.filter((witness) => !reports.some((report) => isWitnessed(witness, report))),
      ...SITUATIONS.filter((situation) => !situations.has(situation)),
    ];
    const { problems, ...counts } = added(played);
    return {
      ...counts,
      digest: digest.digest('hex'),
      problems: [...problems, ...unseen.map((witness) => `no trace of the model reached ${witness}`)],
      repeatedBy: minutes === null ? {} : { traces: played.length },
    };
  },
};

/** @throws Error if the model breaks one of its own invariants, or Quint does not run */
async function explored({ seed: first }: ProofOptions, batch: number) {
  const seed = first + batch * STEP;
  const options = { seed, samples: BATCH * SAMPLES_EACH, steps: STEPS, traces: BATCH };
  const found = await inScope(async (t) => explore(temporaryFolder(t), options));
  if (!found.isClean || found.traces.length === 0) throw new Error(`the model with seed ${seed}: ${found.report}`);
  return { ...found, seed };
}

async function playedTrace(trace: Trace, name: string): Promise<{ posts: readonly TracePost[]; counts: Counts }> {
  let [kills, posts]: [number, readonly TracePost[]] = [0, []];
  try {
    await inScope(async (t) => {
      const player = new Player(t);
      posts = byTick(await player.play(trace));
      kills = player.kills;
    }, 'first');
    expectPosts(posts, byTick(trace.posts));
    return { posts, counts: { ...NOTHING, kills } };
  } catch (error) {
    const history = trace.steps.map(({ name: step, bridge, kind, approver }) =>
      [step, bridge === -1 ? '' : bridge, kind, approver].join(' ').trim(),
    );
    return { posts, counts: { ...countsOfError(error, `${name}: ${history.join('; ')}`), kills } };
  }
}

/** Each rank posts when the model says, and at no other time. */
export function expectPosts(posts: readonly TracePost[], wanted: readonly TracePost[]): void {
  const text = (list: readonly TracePost[]) => list.map(([bridge, tick]) => `bridge ${bridge} in tick ${tick}`);
  const rest = [...text(wanted)];
  const extra = text(posts).filter((post) => {
    const at = rest.indexOf(post);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
  const words = `real bridges post ${text(posts).join(', ') || 'nothing'}, and the model ${text(wanted).join(', ') || 'nothing'}`;
  expect(extra.length === 0, text(wanted).some((post) => extra.includes(post)) ? 'twice' : 'forbidden', words);
  expect(rest.length === 0, 'lost', words);
}

function isWitnessed(witness: string, report: string): boolean {
  return new RegExp(`${witness} was witnessed in [1-9]`).test(report);
}

/** Within one tick, real bridges post in no certain order. */
function byTick(posts: readonly TracePost[]): readonly TracePost[] {
  return posts.toSorted(([one, oneTick], [other, otherTick]) => oneTick - otherTick || one - other);
}
