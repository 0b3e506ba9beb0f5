// A writer in writers/ and its arguments → what it did to the files of one folder.
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CrashOptions, type CrashState, crashStates } from './crash-states.ts';
import { lay } from './disk-model.ts';
import { type Operation, operationsIn } from './operations.ts';
import { traced } from './strace.ts';

/** Runs the writer to its end. It gets the folder first, then `args`. */
export async function record(writer: string, ...args: readonly string[]): Promise<readonly Operation[]> {
  return await inFolder(async (outer) => {
    const root = join(outer, 'disk');
    mkdirSync(root);
    const script = join(import.meta.dirname, 'writers', `${writer}.ts`);
    return operationsIn(await traced(script, [root, ...args], join(outer, 'strace.txt')), root);
  });
}

/** All that the process of a recording printed. */
export function wordsOf(operations: readonly Operation[]): readonly string[] {
  return operations.flatMap((operation) => (operation.does === 'say' ? operation.text.split('\n') : []));
}

/** Opens the states of each crash with `judge`. Returns how many it opened, of how many crashes. @throws what is wrong, with the crash */
export async function replay(
  operations: readonly Operation[],
  options: CrashOptions,
  judge: (state: CrashState, folder: string) => Promise<void>,
): Promise<{ readonly crashes: number; readonly states: number }> {
  let states = 0;
  const crashes = new Set<number>();
  for (const state of crashStates(operations, options)) {
    states += 1;
    crashes.add(state.after);
    await inFolder(async (outer) => {
      const folder = join(outer, 'disk');
      lay(state.content, folder);
      try {
        await judge(state, folder);
      } catch (error) {
        throw new Error(describe(state, operations), { cause: error });
      }
    });
  }
  return { crashes: crashes.size, states };
}

function describe({ after, kept, said }: CrashState, operations: readonly Operation[]): string {
  const last = operations.slice(Math.max(0, after - 12), after).map(words);
  return `crash after operation ${after} of ${operations.length}, kept: ${kept}; said last: ${said.at(-1)}\n${last.join('\n')}`;
}

function words(operation: Operation): string {
  return JSON.stringify({ ...operation, ...('bytes' in operation && { bytes: operation.bytes.length }) });
}

/** A flush of what is only replayed costs nothing in memory. */
const PLACE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A folder in memory, if possible, that is gone after `work`. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(PLACE, 'crash-')));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
