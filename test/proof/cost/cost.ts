// A seed and seconds → every route, verb, source and far side at its worst, beside each other.
import type { TestContext } from 'node:test';
import { HOSTILE_OTHERS, HOSTILE_SINKS, HOSTILE_SOURCES, type HostileSide } from './far-sides.ts';
import { type Cost, costOf, type SceneOptions } from './scene.ts';
import { inScope } from './scope.ts';
import { runVerbs } from './verbs.ts';

export interface CostOptions {
  readonly seed: number;
  /** Of hostility in each scene; 4 by default. */
  readonly seconds?: number;
  /** `short`: all light far sides in one scene. `long`: one scene for each far side, and one for all verbs. */
  readonly profile?: 'short' | 'long';
  /** Scenes whose names contain this; all by default. */
  readonly only?: string;
  readonly onCost?: (cost: Cost) => void;
}

export interface CostResult {
  readonly costs: readonly Cost[];
  readonly failures: readonly string[];
  /** What scenes that are known to fail did not keep. */
  readonly open: readonly string[];
}

type Scene = Pick<SceneOptions, 'name' | 'side' | 'verbs' | 'isMetadataHostile'>;
type Side = (t: TestContext) => Promise<HostileSide>;

/** Scenes that the product does not pass yet, each with the reason. They run in the long profile, and are reported. */
export const OPEN: Readonly<Record<string, string>> = {
  verbs: 'the wait of approvers was measured only on a machine with other work, and was longer than 2 s there',
};

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

/** Runs one scene after the other, each with a bridge of its own in the shipped memory. */
export async function run(options: CostOptions): Promise<CostResult> {
  const { seed, seconds = 4, profile = 'short', only = '', onCost } = options;
  const costs: Cost[] = [];
  for (const scene of scenes(profile).filter(({ name }) => name.includes(only))) {
    const given = { ...scene, seed, seconds, hasCallers: true };
    const cost = await inScope((t) => costOf(t, given)).catch((error: unknown) => broken(scene.name, error));
    costs.push(cost);
    onCost?.(cost);
  }
  const failuresOf = (isOpen: boolean) =>
    costs.filter(({ name }) => name in OPEN === isOpen).flatMap(({ failures }) => failures);
  return { costs, failures: failuresOf(false), open: failuresOf(true) };
}

/** A scene that did not come to its end proves nothing. */
function broken(name: string, error: unknown): Cost {
  const why = error instanceof Error ? error.stack : String(error);
  return { name, figures: 'not measured', failures: [`${name}: ${why}`] };
}
