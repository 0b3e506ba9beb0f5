// A running program and its limits → its end, and the cause if the bridge ended it.
import type { Deps } from '../../src/time/clock.ts';
import type { ProcessGroup } from './process-group.ts';
import type { Exit, RunningProgram } from './running-program.ts';

/** The reason why the bridge ended a run. */
export type Cause = 'timeout' | 'beforeStart' | 'superseded' | 'stop';

export interface Limits {
  /** How long it may still run, and the cause if that time is over. */
  readonly limit: { readonly ms: number; readonly cause: Cause };
  readonly stop: AbortSignal;
  readonly superseded: AbortSignal | undefined;
}

export interface RunEnd {
  /** Null if it could not be ended. */
  readonly exit: Exit | null;
  /** Null if it ended by itself. Only then does its exit code count. */
  readonly cause: Cause | null;
  /**
   * Whether the group has ended, if the bridge ended the run. A program that exits by itself may leave child processes
   * behind.
   */
  readonly isGone: boolean;
}

/** Never rejects. */
export async function supervise(
  program: RunningProgram,
  group: ProcessGroup,
  limits: Limits,
  deps: Pick<Deps, 'after'>,
): Promise<RunEnd> {
  const { limit, stop, superseded } = limits;
  const ended = Promise.withResolvers<Cause>();
  const cancel = deps.after(limit.ms, () => ended.resolve(limit.cause));
  const watched = [
    [stop, () => ended.resolve('stop')],
    [superseded, () => ended.resolve('superseded')],
  ] as const;
  for (const [signal, end] of watched) {
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end, { once: true });
  }
  try {
    const first = await Promise.race([
      program.exit.then((exit) => ({ exit, cause: null })),
      ended.promise.then((cause) => ({ cause })),
    ]);
    if (first.cause === null) return { exit: first.exit, cause: null, isGone: true };
    const isGone = await group.end();
    // A process that cannot be ended, because it waits for a disk, must not delay the result.
    const exit = isGone ? await program.exit : null;
    return { exit, cause: first.cause, isGone };
  } finally {
    cancel();
    for (const [signal, end] of watched) signal?.removeEventListener('abort', end);
  }
}
