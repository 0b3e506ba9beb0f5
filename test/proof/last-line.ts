// The counts of the parts → the last line of a run, and whether it found a fault.
import { createHash } from 'node:crypto';
import { type Counts, FAULTS, NOTHING, type ProofOptions, type Sizes } from './part.ts';

/** The sums; the digest is over those of the deterministic parts, in the order of the list. */
export function summed(parts: readonly Counts[]): Counts {
  const sum = (of: (counts: Counts) => number) => parts.reduce((total, counts) => total + of(counts), 0);
  const digests = parts.flatMap(({ digest }) => digest ?? []);
  return {
    ...NOTHING,
    ...Object.fromEntries(FAULTS.map((fault) => [fault, sum((counts) => counts[fault])])),
    maintenances: sum(({ maintenances }) => maintenances),
    kills: sum(({ kills }) => kills),
    digest: createHash('sha256').update(digests.join('\n')).digest('hex'),
    problems: parts.flatMap(({ problems }) => problems),
    repeatedBy: largest(parts.map(({ repeatedBy }) => repeatedBy)),
  };
}

/** Two parts can share a size: then each repeats at least what it did. */
function largest(sizes: readonly Partial<Sizes>[]): Partial<Sizes> {
  const all: Record<string, number> = {};
  for (const [name, size] of sizes.flatMap((each) => Object.entries(each))) all[name] = Math.max(all[name] ?? 0, size);
  return all;
}

/** `proof seed=S maintenances=N kills=K lost=0 … digest=HEX` */
export function lastLine({ seed }: Pick<ProofOptions, 'seed'>, counts: Counts): string {
  const { maintenances, kills, digest } = counts;
  const faults = FAULTS.map((fault) => `${fault}=${counts[fault]}`);
  return [
    'proof',
    `seed=${seed}`,
    `maintenances=${maintenances}`,
    `kills=${kills}`,
    ...faults,
    `digest=${digest}`,
  ].join(' ');
}

/** Whether one of the six counts is not 0, or something else is wrong. */
export function hasFailed(counts: Counts): boolean {
  return counts.problems.length > 0 || FAULTS.some((fault) => counts[fault] > 0);
}
