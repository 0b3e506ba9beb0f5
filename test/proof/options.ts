// The arguments of `npm run proof` → its options, and back: the arguments that repeat a run.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { ProofOptions } from './part.ts';

/** The short profile: the whole command takes at most 4 minutes on two cores. */
const SHORT = { maintenances: 1000, kills: 20 } as const;
/** The long profile. */
const LONG = { maintenances: 20_000, kills: 1000 } as const;

export interface Arguments {
  /** One set for each seed. */
  readonly runs: readonly Omit<ProofOptions, 'log'>[];
  /** The names of the parts to run; null: all. */
  readonly parts: readonly string[] | null;
  /** Only this history of part 1, told step by step; null: all. */
  readonly world: number | null;
}

export const USAGE = `npm run proof -- [--seed S] [--seeds N] [--long] [--maintenances N] [--kills K] [--minutes M]
                 [--jobs J] [--parts NAME,NAME] [--world W] [--pair FAULT+FAULT]`;

/** @throws Error for an unknown argument or a value that is no whole number */
export function readArguments(argv: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1' },
      long: { type: 'boolean', default: false },
      maintenances: { type: 'string' },
      kills: { type: 'string' },
      minutes: { type: 'string' },
      jobs: { type: 'string' },
      parts: { type: 'string' },
      world: { type: 'string' },
      pair: { type: 'string' },
    },
  });
  const profile = values.long ? LONG : SHORT;
  const given = (name: 'maintenances' | 'kills' | 'minutes' | 'jobs' | 'world') =>
    values[name] === undefined ? null : wholeNumber(name, values[name]);
  const first = wholeNumber('seed', values.seed);
  const shared = {
    maintenances: given('maintenances') ?? profile.maintenances,
    kills: given('kills') ?? profile.kills,
    minutes: given('minutes'),
    isLong: values.long,
    jobs: given('jobs') ?? availableParallelism(),
    ...(values.pair !== undefined && { pair: values.pair }),
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
  const { seed, maintenances, kills, isLong } = options;
  return `--seed ${seed}${isLong ? ' --long' : ''} --maintenances ${maintenances} --kills ${kills}`;
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`--${name} takes a whole number, not "${text}".\n${USAGE}`);
  return Number(text);
}
