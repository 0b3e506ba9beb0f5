// The contract between the command `npm run proof` and each of its parts: options in, counts out.

/** What can be wrong with what a bridge did. Each must be 0. */
export const FAULTS = ['lost', 'invented', 'altered', 'misordered', 'forbidden', 'twice'] as const;
export type Fault = (typeof FAULTS)[number];

/** How much a run does. It follows from these alone, never from the speed of the machine, unless `minutes` is given. */
export interface ProofOptions {
  /** A whole number from 0 on. Equal options with equal seeds give equal runs. */
  readonly seed: number;
  /** At least so many simulated maintenances. */
  readonly maintenances: number;
  /** At least so many kills of real processes, in parts that have them. */
  readonly kills: number;
  /** Null, or: each part begins work until its equal share of this time is over, and tells what repeats it. */
  readonly minutes: number | null;
  /** True in the long profile: everything that takes more than the four minutes of the short one. */
  readonly isLong: boolean;
  /** Processes at a time, for parts that can use several. It changes no result. */
  readonly jobs: number;
  /** Of the part `processes`: only this world, such as `kill+black-hole`; absent: all. */
  readonly pair?: string;
  /** Prints a line for whoever watches. */
  readonly log: (line: string) => void;
}

/** What a part did and found. */
export interface Counts extends Readonly<Record<Fault, number>> {
  readonly maintenances: number;
  readonly kills: number;
  /** Over every observation of a deterministic part, in hexadecimal; null if the part runs on real time. */
  readonly digest: string | null;
  /** With `minutes`: the options that repeat this part of the run, such as `{ maintenances: 4711 }`. */
  readonly repeatedBy: Partial<Pick<ProofOptions, 'maintenances' | 'kills'>>;
}

/** A module `test/proof/NAME/NAME.ts` exports one, and parts.ts lists it. A part that cannot run throws. */
export interface Part {
  readonly name: string;
  run(options: ProofOptions): Promise<Counts>;
}

/** Counts of a part that has done nothing yet. */
export const NOTHING: Counts = {
  maintenances: 0,
  kills: 0,
  lost: 0,
  invented: 0,
  altered: 0,
  misordered: 0,
  forbidden: 0,
  twice: 0,
  digest: null,
  repeatedBy: {},
};
