// What each check of the part `files` gets, and what it returns.

/** A part of the work of a check: the pieces `index` of 0 to `of` - 1, each in a process of its own. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

export interface CheckOptions {
  readonly seed: number;
  /** True: each state of each crash, and each call that can fail. Otherwise some, by the seed. */
  readonly isLong: boolean;
  readonly share: Share;
}

export interface Checked {
  /** What was done, in words. */
  readonly did: string;
  /** Maintenances that were played to their end. */
  readonly maintenances?: number;
  /** Processes that were killed with SIGKILL. */
  readonly kills?: number;
}

/** @throws FoundFault or another error for what is wrong, with the crash that led to it */
export type Check = (options: CheckOptions) => Promise<Checked>;

/** @throws Error if there was so little to judge that the check says nothing */
export function expectEnough(count: number, least: number, what: string): void {
  if (count < least) throw new Error(`only ${count} ${what}, not at least ${least}`);
}
