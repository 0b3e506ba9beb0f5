// A command line, an environment and input bytes → a process in a new group, and its exit.
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Deps } from '../../src/time/clock.ts';
import type { CommandLine } from './command-line.ts';
import { OutputTail } from './output-tail.ts';

/** How long a daemon that keeps a pipe open may delay the log of the output. It delays nothing else. */
const LAST_OUTPUT_MS = 100;

/**
 * After this much output, reading pauses briefly. A program that writes without end then leaves time for the bridge: at
 * most 128 MB/s.
 */
const PIECE_BYTES = 256 * 1024;
const PAUSE_MS = 2;

interface Start {
  readonly line: CommandLine;
  readonly env: Readonly<Record<string, string>>;
  /** Default: the folder of the bridge. */
  readonly directory: string | undefined;
  readonly account: { readonly uid: number; readonly gid: number } | null;
  /** Its whole standard input, which it need not read. */
  readonly input: Uint8Array;
}

/** The end of a process; `signal` is null if it ended by itself. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningProgram {
  readonly pid: number;
  /** Resolves when the process itself exits, even if others keep its pipes open. Never rejects. */
  readonly exit: Promise<Exit>;
  readonly outputs: Outputs;
  /**
   * Resolves when the outputs are complete, because the pipes are closed: at the exit or, if others keep them open,
   * shortly after it. Never rejects.
   */
  readonly closed: Promise<void>;
}

/** What a program has printed so far. */
export interface Outputs {
  readonly stdout: OutputTail;
  readonly stderr: OutputTail;
  /** Returns the last line of either stream, or null. @param hidden see `OutputTail.lines` */
  readonly lastLine: (hidden: readonly string[]) => string | null;
}

/** @throws the error of the system if the program cannot be started */
export async function startProgram(
  { line, env, directory, account, input }: Start,
  deps: Pick<Deps, 'after'>,
): Promise<RunningProgram> {
  const { spawn } = await import('node:child_process');
  const child = spawn(line.file, line.args, {
    env,
    ...(directory === undefined ? {} : { cwd: directory }),
    ...(account === null ? {} : { uid: account.uid, gid: account.gid }),
    // Setsid: signals of the bridge's terminal or service do not reach it, and its group has its pid as number.
    detached: process.platform !== 'win32',
    stdio: 'pipe',
    windowsHide: true,
    windowsVerbatimArguments: line.isVerbatim ?? false,
  });
  const exit = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  const outputs = readOutputs(child, deps);
  const closed = untilClosed(child, exit, deps);
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  // A program may exit or close its standard input without reading it.
  child.stdin.on('error', () => {}).end(input);
  return { pid: child.pid as number, exit, outputs, closed };
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Reads all output to its end, so that no program blocks for long. */
function readOutputs(child: Child, deps: Pick<Deps, 'after'>): Outputs {
  const [stdout, stderr] = [new OutputTail(), new OutputTail()];
  let newest = stdout;
  for (const [tail, pipe] of [
    [stdout, child.stdout],
    [stderr, child.stderr],
  ] as const)
    readInto(tail, pipe, deps, () => {
      newest = tail;
    });
  const lastLine: Outputs['lastLine'] = (hidden) =>
    newest.lastLine(hidden) ?? (newest === stdout ? stderr : stdout).lastLine(hidden);
  return { stdout, stderr, lastLine };
}

async function untilClosed(child: Child, exit: Promise<Exit>, deps: Pick<Deps, 'after'>): Promise<void> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await exit;
  const late = Promise.withResolvers<void>();
  const cancel = deps.after(LAST_OUTPUT_MS, late.resolve);
  await Promise.race([closed, late.promise]);
  cancel();
  for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy();
}

function readInto(tail: OutputTail, output: Readable, { after }: Pick<Deps, 'after'>, onRead: () => void): void {
  let read = 0;
  output.on('data', (chunk: Buffer) => {
    tail.add(chunk);
    onRead();
    read += chunk.byteLength;
    if (read < PIECE_BYTES) return;
    read = 0;
    output.pause();
    after(PAUSE_MS, () => output.resume());
  });
  output.on('error', () => {});
}
