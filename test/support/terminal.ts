// Lines of a page → a shell that runs them, keeps its variables, and returns what they print.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import type { TestContext } from 'node:test';
import { poll } from './poll.ts';

/** Several programs that start at once take long beside other tests. */
const PATIENCE_MS = 60_000;

/** Printed after the typed lines, with the status of the last one. */
const END = '-- the lines before this one ended with';

/** One shell. It ends with the test, and so does everything that it started. */
export class Terminal {
  readonly #shell: ChildProcess;
  stdout = '';
  stderr = '';
  /** How much of `stdout` was returned already. */
  #returned = 0;

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

  /** Kills it with everything that it started. */
  end(): void {
    if (this.#shell.pid !== undefined && this.#shell.signalCode === null) process.kill(-this.#shell.pid, 'SIGKILL');
  }

  /** Does not wait for the end of the lines. */
  start(text: string): void {
    this.#shell.stdin?.write(`${text}\n`);
  }

  /** Resolves with what the lines printed, after the last one has ended. Throws if that one failed, unless it may. */
  async type(text: string, { mayFail = false } = {}): Promise<string> {
    this.start(`${text}\necho "${END} $?"`);
    const ended = () => new RegExp(`${END} (\\d+)\n`).exec(this.stdout.slice(this.#returned));
    const said = () => `${text}; ${this.stdout.slice(this.#returned)}; ${this.stderr}`;
    await poll(
      () => ended() !== null,
      () => `the end of ${said()}`,
      PATIENCE_MS,
    );
    const [line = '', status] = ended() ?? [];
    assert.ok(mayFail || status === '0', `status ${status} of ${said()}`);
    const end = this.stdout.indexOf(line, this.#returned);
    const printed = this.stdout.slice(this.#returned, end);
    this.#returned = end + line.length;
    return printed;
  }

  /** Resolves with the next lines that it prints, as one text. */
  async lines(count: number): Promise<string> {
    const fresh = () => this.stdout.slice(this.#returned).split('\n').slice(0, -1);
    await poll(
      () => fresh().length >= count,
      () => `${count} more lines after ${this.stdout.slice(-500)}; ${this.stderr}`,
      PATIENCE_MS,
    );
    const lines = fresh().slice(0, count).join('\n');
    this.#returned += lines.length + 1;
    return lines;
  }
}
