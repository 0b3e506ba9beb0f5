// The contract between the command `npm run proof` and each of its parts: options in, counts out.

/** What can be wrong with what a bridge did. Each must be 0. */
export const FAULTS = ['lost', 'invented', 'altered', 'misordered', 'forbidden', 'twice'] as const;
export type Fault = (typeof FAULTS)[number];

/** How much of one kind of work a run does at least. Each size has an option of its name, and a row in options.ts. */
export interface Sizes {
  /** Simulated maintenances, in the part `simulation`. */
  readonly maintenances: number;
  /** Kills of real processes, in parts that have them. */
  readonly kills: number;
  /** Hostile inputs of each kind, in the part `hostile`. */
  readonly cases: number;
  /** Traces of the model, in the part `group`. */
  readonly traces: number;
  /** Rounds of the parts that begin again with other choices, such as `files` and `cost`. */
  readonly rounds: number;
}

/** How much a run does. It follows from these alone, never from the speed of the machine, unless `minutes` is given. */
export interface ProofOptions extends Sizes {
  /** A whole number from 0 on. Equal options with equal seeds give equal runs. */
  readonly seed: number;
  /** Parts that consist of named pieces run only those whose names contain this, or are this; null: all. */
  readonly only: string | null;
  /** Null, or: each part begins work until its equal share of this time is over, and tells what repeats it. */
  readonly minutes: number | null;
  /** True in the long profile: everything that takes more than the four minutes of the short one. */
  readonly isLong: boolean;
  /** Processes at a time, for parts that can use several. It changes no result. */
  readonly jobs: number;
  /** Prints a line for whoever watches. */
  readonly log: (line: string) => void;
}

/** What a part did and found. */
export interface Counts extends Readonly<Record<Fault, number>> {
  readonly maintenances: number;
  readonly kills: number;
  /** Over every observation of a deterministic part, in hexadecimal; null if the part runs on real time. */
  readonly digest: string | null;
  /** Everything else that is wrong, each in words. One of them makes the part fail. */
  readonly problems: readonly string[];
  /** With `minutes`: the sizes that repeat this part of the run, such as `{ maintenances: 4711 }`. */
  readonly repeatedBy: Partial<Sizes>;
}

/** A module `test/proof/NAME/NAME.ts` exports one, and parts.ts lists it. */
export interface Part {
  readonly name: string;
  /** Returns what the part needs and this machine does not have, or null. Absent: it runs wherever Node runs. */
  readonly missing?: () => string | null;
  /** @throws Error if it cannot go on: that is one problem, and the other parts run all the same */
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
  problems: [],
  repeatedBy: {},
};
