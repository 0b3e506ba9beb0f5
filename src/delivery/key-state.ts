// A key's state and its failure → when it may go again. Pure: clocks and chance are handed in.
import type { Disposition } from '../errors.ts';
import { backoffMs } from '../time/backoff.ts';
import type { Moment } from './moment.ts';

/** The state of a key that failed, or was probed. A healthy key has none. */
export interface KeyState {
  /** In a row; 0 for a key that was only probed. */
  readonly failures: number;
  /** Elapsed time. */
  readonly dueMs: number;
  /** A recovery of the sink has cut its back-off short since its last success. */
  readonly wasCutShort: boolean;
  /** It failed again although the sink accepted others: this key, or one batched with it, is the cause. */
  readonly isCause: boolean;
  /** It had its turn as a probe, with a row of an event that had been ended for long, or not. */
  readonly probed: 'alive' | 'long ended' | null;
}

/** The states of the keys that have one. */
export type Keys = ReadonlyMap<string, KeyState>;

export const NO_FAILURE: KeyState = { failures: 0, dueMs: 0, wasCutShort: false, isCause: false, probed: null };

/** Returns the state of a key after one more failure. */
export function failedKey(
  before: KeyState = NO_FAILURE,
  failure: { readonly disposition: Disposition; readonly longEnded: boolean; readonly withinMs?: number | undefined },
  { elapsedMs, chance }: Moment,
): KeyState {
  const failures = before.failures + 1;
  const dueMs = elapsedMs + backoffMs({ ...failure, failures }, chance.key);
  return { ...before, failures, dueMs, isCause: before.isCause || before.wasCutShort };
}

export function mapped(keys: Keys, change: (state: KeyState, key: string) => KeyState): Keys {
  return keys.size === 0 ? keys : new Map([...keys].map(([key, state]) => [key, change(state, key)]));
}

/** Returns the keys without those that go; the same map if none goes. */
export function without(keys: Keys, goes: (key: string, state: KeyState) => boolean): Keys {
  for (const [key, state] of keys)
    if (goes(key, state)) return new Map([...keys].filter(([each, its]) => !goes(each, its)));
  return keys;
}
