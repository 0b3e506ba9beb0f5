// Lines of a page → a shell that types them, remembers its variables and tells what they print.
import { type ChildProcess, spawn } from 'node:child_process';
import type { TestContext } from 'node:test';
import { poll } from './poll.ts';

/** What starts several programs at once takes long beside other tests. */
const PATIENCE_MS = 60_000;

const TYPED = '-- the lines before this one were typed --';

/** One shell that remembers its variables. Ends with the test, and what it started too. */
export class Terminal {
  readonly #shell: ChildProcess;
  stdout = '';
  stderr = '';
  /** How much of `stdout` was told already. */
  #told = 0;

  constructor(t: TestContext, folder: string) {
    const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
    // A group of its own, so that nothing that it started is left.
    this.#shell = spawn('bash', ['--norc', '--noprofile'], { cwd: folder, env, detached: true });
    for (const name of ['stdout', 'stderr'] as const)
      this.#shell[name]?.setEncoding('utf8').on('data', (text: string) => {
        this[name] += text;
      });
    t.after(() => this.end());
  }

  /** Kills it with all that it started. */
  end(): void {
    if (this.#shell.pid !== undefined && this.#shell.signalCode === null) process.kill(-this.#shell.pid, 'SIGKILL');
  }

  /** Does not wait for its end. */
  start(text: string): void {
    this.#shell.stdin?.write(`${text}\n`);
  }

  /** Resolves with what it printed, once it is through. */
  async type(text: string): Promise<string> {
    this.start(`${text}\necho '${TYPED}'`);
    await poll(
      () => this.stdout.includes(`${TYPED}\n`, this.#told),
      () => `the end of ${text}; ${this.stdout.slice(this.#told)}; ${this.stderr}`,
      PATIENCE_MS,
    );
    const end = this.stdout.indexOf(TYPED, this.#told);
    const printed = this.stdout.slice(this.#told, end);
    this.#told = end + TYPED.length + 1;
    return printed;
  }

  /** Resolves with so many lines that were not told before. */
  async lines(count: number): Promise<readonly string[]> {
    const fresh = () => this.stdout.slice(this.#told).split('\n').slice(0, -1);
    await poll(
      () => fresh().length >= count,
      () => `${count} more lines after ${this.stdout.slice(-500)}; ${this.stderr}`,
      PATIENCE_MS,
    );
    const lines = fresh().slice(0, count);
    this.#told += lines.join('\n').length + 1;
    return lines;
  }
}
