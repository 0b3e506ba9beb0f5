// Part 5 of the proof: every route, verb, source and far side at its worst, beside each other.
import { existsSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import type { TestContext } from 'node:test';
import { NOTHING, type Part, type ProofOptions } from '../part.ts';
import { textOf } from '../run-part.ts';
import { turns } from '../turns.ts';
import { HOSTILE_OTHERS, HOSTILE_SINKS, HOSTILE_SOURCES, type HostileSide } from './far-sides.ts';
import { type Cost, costOf, type SceneOptions } from './scene.ts';
import { inScope } from './scope.ts';
import { runVerbs } from './verbs.ts';

/** How long each scene is hostile. */
const SECONDS = 4;
/** A scene that misses bounds in time is played so often. */
const TIMES = 3;
/** Between the seeds of two rounds. */
const STEP = 1_000_003;

export const cost: Part = {
  name: 'cost',
  missing: () =>
    existsSync('/proc/self/status') ? null : 'memory is read from /proc, which this system does not have',
  run: async (options) => {
    const { seed, rounds, minutes } = options;
    const problems: string[] = [];
    let done = 0;
    for (const round of turns(minutes, () => done >= rounds)) {
      problems.push(...(await playedScenes(options, seed + round * STEP)));
      done += 1;
    }
    return { ...NOTHING, problems, repeatedBy: minutes === null ? {} : { rounds: done } };
  },
};

/** Plays one scene after the other, each with a bridge of its own in the shipped memory. Returns what was not kept. */
async function playedScenes({ isLong, only, log }: ProofOptions, seed: number): Promise<readonly string[]> {
  const profile = isLong ? 'long' : 'short';
  const chosen = scenes(profile).filter(({ name }) => only === null || name.includes(only));
  if (chosen.length === 0) throw new Error(`no scene's name has "${only}" in it`);
  const problems: string[] = [];
  for (const scene of chosen) {
    problems.push(...(await playedScene({ ...scene, seed, seconds: SECONDS, hasCallers: true }, log)));
  }
  return problems;
}

/** Plays a scene again if it missed nothing but bounds in time: others may be busy on this machine. */
async function playedScene(scene: SceneOptions, log: ProofOptions['log']): Promise<readonly string[]> {
  for (let time = 1; ; time++) {
    const cost = await inScope((t) => costOf(t, scene)).catch((error) => broken(scene.name, error));
    log(`cost: ${cost.name}, seed ${scene.seed}: ${cost.figures}`);
    const isOnlyLate = cost.failures.length === 0 && cost.late.length > 0;
    const late = cost.late.map((each) => `${each}; ${loadNow()}`);
    if (!isOnlyLate || time === TIMES) return [...cost.failures, ...late];
    for (const each of late) log(`cost: once more, because ${each}`);
  }
}

/** In words: with much more load than processors, bounds in time say nothing about the bridge. */
function loadNow(): string {
  return `the load of this machine is ${loadavg()[0]?.toFixed(0)} on ${availableParallelism()} processors`;
}

type Scene = Pick<SceneOptions, 'name' | 'side' | 'verbs' | 'isMetadataHostile'>;
type Side = (t: TestContext) => Promise<HostileSide>;

/** Sinks that the shipped memory carries together; brokers and azure-monitor need more with each other. */
const LIGHT = ['stdout', 'file', 'syslog', 'webhook', 'splunk', 'elasticsearch', 'otlp'];

/** The scenes of a profile by name. */
export function scenes(profile: 'short' | 'long'): readonly Scene[] {
  const sinks = Object.entries(HOSTILE_SINKS).flatMap(([type, side]) =>
    typeof side === 'string' ? [] : [{ name: `sink ${type}`, side }],
  );
  const sources = Object.entries(HOSTILE_SOURCES).map(([type, side]) => ({ name: `source ${type}`, side }));
  const others = Object.entries(HOSTILE_OTHERS).flatMap(([file, side]) =>
    Object.values(HOSTILE_SINKS).includes(side)
      ? []
      : [{ name: file, side, isMetadataHostile: file.includes('metadata') }],
  );
  if (profile === 'short') {
    const light = sinks.filter(({ name }) => LIGHT.includes(name.slice('sink '.length)));
    return [{ name: `sinks ${LIGHT.join(', ')}`, side: sideBySide(light.map(({ side }) => side)) }];
  }
  const quiet = async () => ({ did: () => 'every verb' });
  return [...sinks, ...sources, ...others, { name: 'verbs', side: quiet, verbs: runVerbs }];
}

/** All of these at once, in one bridge. */
function sideBySide(starts: readonly Side[]): Side {
  return async (t) => {
    const sides: HostileSide[] = [];
    for (const start of starts) sides.push(await start(t));
    const sinks = sides.flatMap((side, index) =>
      Object.values(side.sinks ?? {}).map((sink) => [`hostile-${index}`, sink] as const),
    );
    return {
      sinks: Object.fromEntries(sinks),
      env: Object.assign({}, ...sides.map(({ env }) => env)),
      begin: () => {
        for (const { begin } of sides) begin?.();
      },
      did: () => sides.map(({ did }) => did()).join('; '),
    };
  };
}

/** A scene that did not come to its end proves nothing. */
function broken(name: string, error: unknown): Cost {
  return { name, figures: 'not measured', failures: [`${name}: ${textOf(error)}`], late: [] };
}
