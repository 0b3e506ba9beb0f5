// A command line, an environment and bytes to read → a process in a group of its own, to its exit.
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Deps } from '../../src/time/clock.ts';
import type { CommandLine } from './command-line.ts';
import { OutputTail } from './output-tail.ts';

/** What a daemon that keeps a pipe open may hold up, which is the log of its output alone. */
const LAST_OUTPUT_MS = 100;

/** After so much of one output the program waits a little, so that one which writes without end leaves the bridge its turns: 128 MB/s at most. */
const PIECE_BYTES = 256 * 1024;
const PAUSE_MS = 2;

export interface Start {
  readonly line: CommandLine;
  readonly env: Readonly<Record<string, string>>;
  /** The bridge's own where it is undefined. */
  readonly directory: string | undefined;
  readonly account: { readonly uid: number; readonly gid: number } | null;
  /** All of its standard input, which it need not read. */
  readonly input: Uint8Array;
}

/** How it ended; `signal` is null where it ended by itself. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningProgram {
  readonly pid: number;
  /** Its own exit, whoever holds its pipes. Never rejects. */
  readonly exit: Promise<Exit>;
  /** Both are whole, and the pipes closed: at its exit or, where others hold them, a moment later. Never rejects. */
  readonly outputs: Promise<{ readonly stdout: OutputTail; readonly stderr: OutputTail }>;
}

/** @throws what the system says where it cannot be started */
export async function startProgram({ line, env, directory, account, input }: Start, deps: Pick<Deps, 'after'>): Promise<RunningProgram> {
  const { spawn } = await import('node:child_process');
  const child = spawn(line.file, line.args, {
    env,
    ...(directory === undefined ? {} : { cwd: directory }),
    ...(account === null ? {} : { uid: account.uid, gid: account.gid }),
    // Setsid: signals of the bridge's terminal or service do not reach it, and its group bears its number.
    detached: process.platform !== 'win32',
    stdio: 'pipe',
    windowsHide: true,
    windowsVerbatimArguments: line.isVerbatim ?? false,
  });
  const exit = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  const outputs = readOutputs(child, exit, deps);
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  // A program that ends, or closes its standard input, without having read it has done nothing wrong.
  child.stdin.on('error', () => {}).end(input);
  return { pid: child.pid as number, exit, outputs };
}

/** Reads to the end whatever comes, so that no program waits for a reader for long. */
async function readOutputs(child: ChildProcessByStdio<Writable, Readable, Readable>, exit: Promise<Exit>, deps: Pick<Deps, 'after'>) {
  const [stdout, stderr] = [readTail(child.stdout, deps), readTail(child.stderr, deps)];
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await exit;
  const late = Promise.withResolvers<void>();
  const cancel = deps.after(LAST_OUTPUT_MS, late.resolve);
  await Promise.race([closed, late.promise]);
  cancel();
  for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy();
  return { stdout, stderr };
}

function readTail(output: Readable, { after }: Pick<Deps, 'after'>): OutputTail {
  const tail = new OutputTail();
  let read = 0;
  output.on('data', (chunk: Buffer) => {
    tail.add(chunk);
    read += chunk.byteLength;
    if (read < PIECE_BYTES) return;
    read = 0;
    output.pause();
    after(PAUSE_MS, () => output.resume());
  });
  output.on('error', () => {});
  return tail;
}
