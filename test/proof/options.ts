// The arguments of `npm run proof` → its options, and back: the arguments that repeat a run.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { ProofOptions, Sizes } from './part.ts';

/**
 * By profile. The short one of all parts takes at most 4 minutes on two cores. A long round of `files` and `cost` takes
 * everything, so one is enough.
 */
const SIZES: Readonly<Record<keyof Sizes, { readonly short: number; readonly long: number }>> = {
  maintenances: { short: 500, long: 20_000 },
  kills: { short: 20, long: 1000 },
  cases: { short: 5000, long: 1_000_000 },
  traces: { short: 20, long: 1000 },
  rounds: { short: 1, long: 1 },
};

export interface Arguments {
  /** One set for each seed. */
  readonly runs: readonly Omit<ProofOptions, 'log'>[];
  /** The names of the parts to run; null: all. */
  readonly parts: readonly string[] | null;
  /** Only this history of part 1, told step by step; null: all. */
  readonly world: number | null;
}

export const USAGE = `npm run proof -- [--seed S] [--seeds N] [--long] [--minutes M] [--jobs J] [--parts NAME,NAME] [--only TEXT]
                 [--maintenances N] [--kills N] [--cases N] [--traces N] [--rounds N] [--world W]`;

const NAMES = Object.keys(SIZES) as readonly (keyof Sizes)[];

/** @throws Error for an unknown argument or a value that is no whole number */
export function readArguments(argv: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1' },
      long: { type: 'boolean', default: false },
      minutes: { type: 'string' },
      jobs: { type: 'string' },
      parts: { type: 'string' },
      only: { type: 'string' },
      world: { type: 'string' },
      ...Object.fromEntries(NAMES.map((name) => [name, { type: 'string' as const }])),
    },
  });
  const texts: Readonly<Record<string, string | boolean | undefined>> = values;
  const given = (name: keyof Sizes | 'minutes' | 'jobs' | 'world') =>
    texts[name] === undefined ? null : wholeNumber(name, String(texts[name]));
  const sizes = NAMES.map((name) => [name, given(name) ?? SIZES[name][values.long ? 'long' : 'short']]);
  const first = wholeNumber('seed', values.seed);
  const shared = {
    ...(Object.fromEntries(sizes) as unknown as Sizes),
    only: values.only ?? null,
    minutes: given('minutes'),
    isLong: values.long,
    jobs: given('jobs') ?? availableParallelism(),
  };
  return {
    runs: Array.from({ length: wholeNumber('seeds', values.seeds) }, (_, index) => ({
      seed: first + index,
      ...shared,
    })),
    parts: values.parts?.split(',') ?? null,
    world: given('world'),
  };
}

/** The arguments of a run that does the same, whatever the machine. */
export function argumentsOf(options: Omit<ProofOptions, 'log' | 'minutes' | 'jobs'>): string {
  const { seed, isLong, only } = options;
  const sizes = NAMES.map((name) => `--${name} ${options[name]}`);
  const rest = only === null ? [] : [`--only '${only}'`];
  return [`--seed ${seed}`, ...(isLong ? ['--long'] : []), ...sizes, ...rest].join(' ');
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`--${name} takes a whole number, not "${text}".`);
  return Number(text);
}
