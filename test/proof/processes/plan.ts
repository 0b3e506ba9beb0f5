// The options of a run → the worlds that it plays.
import type { ProofOptions } from '../part.ts';
import type { Fault } from './fault.ts';
import { FAULTS, faultNamed, pairsOf } from './faults.ts';
import type { WorldPlan } from './played.ts';

/** Each step of a story has a kill: three events of five steps. */
export const KILLS_OF_A_WORLD = 15;
/** What the short profile plays, each alone. */
const SHORT = [
  ...['stop', 'upgrade', 'reload', 'older-store', 'black-hole', 'half-open', 'refuse', 'reset', 'failing'],
  ...['error-500', 'silent', 'truncated', 'request-lost', 'answer-lost'],
];

type Chosen = Pick<ProofOptions, 'seed' | 'isLong' | 'kills' | 'only'>;

/**
 * @param chosen `only` is null, or one world: `FAULT`, `FAULT+FAULT` or `kills-NUMBER`
 * @throws Error if `only` names no fault
 */
export function worldsOf({ seed, isLong, kills, only }: Chosen): readonly WorldPlan[] {
  const usual = { seed, hasBrokers: isLong };
  const world = (faults: readonly Fault[]): WorldPlan => ({
    ...{ ...usual, name: faults.map(({ name }) => name).join('+'), faults, killsInEachStep: false },
  });
  const killing = (number: number): WorldPlan => ({
    ...{ ...usual, name: `kills-${number}`, faults: [], killsInEachStep: true },
  });
  if (only !== null) {
    const number = /^kills-(\d+)$/.exec(only)?.[1];
    return [number === undefined ? world(only.split('+').map(faultNamed)) : killing(Number(number))];
  }
  const alone = isLong ? FAULTS : SHORT.map(faultNamed);
  const pairs = isLong ? pairsOf(FAULTS) : [];
  const killed = Array.from({ length: Math.ceil(kills / KILLS_OF_A_WORLD) }, (_, index) => killing(index));
  return [...alone.map((fault) => world([fault])), ...killed, ...pairs.map(world)];
}

/** Why this world cannot run here; empty if it can. */
export function missingFor({ faults }: WorldPlan): readonly string[] {
  return faults.flatMap(({ name, missing }) => {
    const reason = missing?.() ?? false;
    return reason === false ? [] : [`${name}: ${reason}`];
  });
}
