// A running program and its limits → how it ended, and whether the bridge ended it.
import type { Deps } from '../../src/time/clock.ts';
import type { ProcessGroup } from './process-group.ts';
import type { Exit, RunningProgram } from './running-program.ts';

/** Why the bridge ended a run. */
export type Cause = 'timeout' | 'beforeStart' | 'overtaken' | 'stop';

export interface Limits {
  /** How long it may still run, and what it is when that is over. */
  readonly limit: { readonly ms: number; readonly cause: Cause };
  readonly stop: AbortSignal;
  readonly overtaken: AbortSignal | undefined;
}

export interface RunEnd {
  /** Null where it could not be ended. */
  readonly exit: Exit | null;
  /** Null where it ended by itself: then alone does its exit code count. */
  readonly cause: Cause | null;
  /** Nothing is left of the group of a run that the bridge ended. What a program leaves behind that ends by itself is its own. */
  readonly isGone: boolean;
}

/** Never rejects. */
export async function supervise(program: RunningProgram, group: ProcessGroup, limits: Limits, deps: Pick<Deps, 'after'>): Promise<RunEnd> {
  const { limit, stop, overtaken } = limits;
  const ended = Promise.withResolvers<Cause>();
  const cancel = deps.after(limit.ms, () => ended.resolve(limit.cause));
  const watched = [
    [stop, () => ended.resolve('stop')],
    [overtaken, () => ended.resolve('overtaken')],
  ] as const;
  for (const [signal, end] of watched) {
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end, { once: true });
  }
  try {
    const first = await Promise.race([program.exit.then((exit) => ({ exit, cause: null })), ended.promise.then((cause) => ({ cause }))]);
    if (first.cause === null) return { exit: first.exit, cause: null, isGone: true };
    const isGone = await group.end();
    // One that nothing can end, as it waits for a disk, is not waited for.
    const exit = isGone ? await program.exit : null;
    return { exit, cause: first.cause, isGone };
  } finally {
    cancel();
    for (const [signal, end] of watched) signal?.removeEventListener('abort', end);
  }
}
