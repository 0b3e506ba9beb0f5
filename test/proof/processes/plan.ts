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

type Chosen = Pick<ProofOptions, 'seed' | 'isLong' | 'kills' | 'only' | 'minutes'>;

/** The first so many worlds of the list: repeats a run with `--minutes`. */
const FIRST = /^first-(\d+)$/;

/**
 * The list has each fault alone, then kills, then pairs. With `minutes` or `first-NUMBER` it goes on with kills and has
 * no end.
 * @param chosen `only` is null, or one world, `FAULT`, `FAULT+FAULT` or `kills-NUMBER`, or `first-NUMBER`
 * @throws Error if `only` names no fault
 */
export function* worldsOf({ seed, isLong, kills, only, minutes }: Chosen): Generator<WorldPlan> {
  const usual = { seed, hasBrokers: isLong };
  const world = (faults: readonly Fault[]): WorldPlan => ({
    ...{ ...usual, name: faults.map(({ name }) => name).join('+'), faults, killsInEachStep: false },
  });
  const killing = (number: number): WorldPlan => ({
    ...{ ...usual, name: `kills-${number}`, faults: [], killsInEachStep: true },
  });
  const first = only === null ? null : FIRST.exec(only);
  if (only !== null && first === null) {
    const number = /^kills-(\d+)$/.exec(only)?.[1];
    yield number === undefined ? world(only.split('+').map(faultNamed)) : killing(Number(number));
    return;
  }
  const killed = Math.ceil(kills / KILLS_OF_A_WORLD);
  for (const fault of isLong ? FAULTS : SHORT.map(faultNamed)) yield world([fault]);
  for (let number = 0; number < killed; number++) yield killing(number);
  for (const pair of isLong ? pairsOf(FAULTS) : []) yield world(pair);
  if (minutes === null && first === null) return;
  for (let number = killed; ; number++) yield killing(number);
}

/** How many worlds are played at most. */
export function mostWorlds({ only }: Pick<ProofOptions, 'only'>): number {
  return Number(FIRST.exec(only ?? '')?.[1] ?? Number.POSITIVE_INFINITY);
}

/** Why this world cannot run here; empty if it can. */
export function missingFor({ faults }: WorldPlan): readonly string[] {
  return faults.flatMap(({ name, missing }) => {
    const reason = missing?.() ?? false;
    return reason === false ? [] : [`${name}: ${reason}`];
  });
}
