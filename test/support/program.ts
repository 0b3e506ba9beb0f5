// Arguments → the built command (`npm run build`) as a process: what it prints, how it ends.
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { poll } from './poll.ts';

const MAIN = join(import.meta.dirname, '../../dist/main.js');

export interface ProgramOptions {
  /** Besides PATH. */
  readonly env?: Readonly<Record<string, string>>;
  /** All of standard input; nothing by default. Null leaves it open. */
  readonly input?: string | null;
  /** Instead of the three pipes that are read here. */
  readonly stdio?: StdioOptions;
  /** The Node that runs it; that of the tests by default. */
  readonly node?: string;
  /** Of that Node; none by default. */
  readonly flags?: readonly string[];
  /** A command that runs the one that stands behind it, such as `nice`. */
  readonly launcher?: readonly string[];
  /** The script that it runs; the built command by default. */
  readonly main?: string;
  /** Where it runs; here by default. */
  readonly cwd?: string;
}

/** How a process ended, and all that it printed. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One process of the command. */
export class Program {
  readonly child: ChildProcess;
  readonly #ended: Promise<unknown>;
  stdout = '';
  stderr = '';

  constructor(args: readonly string[], options: ProgramOptions = {}) {
    const {
      env = {},
      input = '',
      stdio,
      node = process.execPath,
      flags = [],
      launcher = [],
      main = MAIN,
      cwd,
    } = options;
    const path = { PATH: process.env['PATH'] ?? '' };
    const [command = node, ...words] = [...launcher, node, ...flags, main, ...args];
    this.child = spawn(command, words, { env: { ...path, ...env }, stdio: stdio ?? 'pipe', cwd });
    this.#ended = once(this.child, 'close');
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.child.stdin?.on('error', () => {});
    if (input !== null) this.child.stdin?.end(input);
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Sends a signal; resolves when the process is gone. */
  async end(signal: NodeJS.Signals): Promise<Ended> {
    this.child.kill(signal);
    return await this.ended();
  }

  /** Resolves when the process is gone and its pipes are read to their ends. */
  async ended(): Promise<Ended> {
    await this.#ended;
    return { code: this.child.exitCode, signal: this.child.signalCode, stdout: this.stdout, stderr: this.stderr };
  }

  /** Resolves once standard error holds this. @throws with what it holds when it never does */
  async logs(what: string): Promise<void> {
    await this.#until(() => this.stderr.includes(what), `${what} on standard error`);
  }

  /** Resolves once so many lines are on standard output; with them. */
  async lines(count: number): Promise<string[]> {
    const lines = () => this.stdout.split('\n').slice(0, -1);
    await this.#until(() => lines().length >= count, `${count} lines on standard output`);
    return lines();
  }

  async #until(holds: () => boolean, what: string): Promise<void> {
    try {
      await poll(() => holds() || this.hasEnded, what);
      // What it printed at its very end may still be on its way.
      if (!holds()) await this.#ended;
    } catch (error) {
      throw new Error(`${(error as Error).message}; standard error: ${this.stderr}`);
    }
    if (!holds()) throw new Error(`the process ended before ${what}; standard error: ${this.stderr}`);
  }
}

/** Starts the command; whatever is left of it is killed, by its own pid, behind the test. */
export function start(t: TestContext, args: readonly string[], options?: ProgramOptions): Program {
  const program = new Program(args, options);
  t.after(async () => {
    if (!program.hasEnded) await program.end('SIGKILL');
  });
  return program;
}

/** Runs the command to its end. */
export function run(t: TestContext, args: readonly string[], options?: ProgramOptions): Promise<Ended> {
  return start(t, args, options).ended();
}
