// A seed and seconds → every route, verb, source and far side at its worst, beside each other.

import { HOSTILE_OTHERS, HOSTILE_SINKS, HOSTILE_SOURCES } from './far-sides.ts';
import { type Cost, costOf, type SceneOptions } from './scene.ts';
import { inScope } from './scope.ts';
import { runVerbs } from './verbs.ts';

export interface CostOptions {
  readonly seed: number;
  /** Of hostility in each scene; 4 by default. */
  readonly seconds?: number;
  /** Scenes whose names contain this; all by default. */
  readonly only?: string;
  readonly onCost?: (cost: Cost) => void;
}

export interface CostResult {
  readonly costs: readonly Cost[];
  readonly failures: readonly string[];
}

type Scene = Pick<SceneOptions, 'name' | 'side' | 'verbs' | 'isMetadataHostile'>;

/** All scenes by name: one for each far side, and one for the verbs. */
export function scenes(): readonly Scene[] {
  const sinks = Object.entries(HOSTILE_SINKS).flatMap(([type, side]) =>
    typeof side === 'string' ? [] : [{ name: `sink ${type}`, side }],
  );
  const sources = Object.entries(HOSTILE_SOURCES).map(([type, side]) => ({ name: `source ${type}`, side }));
  const others = Object.entries(HOSTILE_OTHERS).flatMap(([file, side]) =>
    side === HOSTILE_SINKS['kubernetes'] ? [] : [{ name: file, side, isMetadataHostile: file.includes('metadata') }],
  );
  const quiet = async () => ({ did: () => 'every verb' });
  return [...sinks, ...sources, ...others, { name: 'verbs', side: quiet, verbs: runVerbs }];
}

/** Runs one scene after the other, each with a bridge of its own in the shipped memory. */
export async function run({ seed, seconds = 4, only = '', onCost }: CostOptions): Promise<CostResult> {
  const costs: Cost[] = [];
  for (const scene of scenes().filter(({ name }) => name.includes(only))) {
    const options = { ...scene, seed, seconds, hasCallers: true };
    const cost = await inScope((t) => costOf(t, options)).catch((error: unknown) => broken(scene.name, error));
    costs.push(cost);
    onCost?.(cost);
  }
  return { costs, failures: costs.flatMap(({ failures }) => failures) };
}

/** A scene that did not come to its end proves nothing. */
function broken(name: string, error: unknown): Cost {
  return { name, figures: 'not measured', failures: [`${name}: ${error instanceof Error ? error.stack : error}`] };
}
