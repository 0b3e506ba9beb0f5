// The built command, or a script, on a terminal → what its screen shows, by a foreign emulator.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import xterm from '@xterm/headless';
import { poll } from './poll.ts';
import { type Ended, Program } from './program.ts';

const MAIN = join(import.meta.dirname, '../../dist/main.js');
const ON_SIZED_TERMINAL = join(import.meta.dirname, 'on-sized-terminal.py');

/** The reason to skip a test, or false. */
export const noTerminal =
  spawnSync('python3', ['-c', 'import pty']).status === 0 ? false : 'python3, which gives the terminal, is not there';

/** One process of the command on a terminal, 80×24 at first. */
export class EmulatedTerminal {
  readonly #program: Program;
  readonly #emulator = new xterm.Terminal({ cols: 80, rows: 24, allowProposedApi: true });
  /** All that it has printed. */
  printed = '';

  /** @param main the script that Node runs */
  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}, main = MAIN) {
    this.#program = new Program([process.execPath, main, ...args], {
      ...{ node: 'python3', main: ON_SIZED_TERMINAL, input: null },
      env: { TERM: 'xterm-256color', ...env },
    });
    this.#program.child.stdout?.on('data', (text: string) => {
      this.printed += text;
      this.#emulator.write(text);
    });
  }

  get pid(): number {
    return this.#program.child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#program.hasEnded;
  }

  /** The lines of the screen, without blanks at their ends. */
  get lines(): readonly string[] {
    const { active } = this.#emulator.buffer;
    return Array.from(
      { length: this.#emulator.rows },
      (_, row) => active.getLine(active.viewportY + row)?.translateToString(true) ?? '',
    );
  }

  get text(): string {
    return this.lines.join('\n');
  }

  /** Whether the program has the screen for itself, and the cursor is hidden. */
  get isFullScreen(): boolean {
    return this.#emulator.buffer.active.type === 'alternate';
  }

  type(keys: string): void {
    this.#order({ keys });
  }

  resize(columns: number, rows: number): void {
    this.#emulator.resize(columns, rows);
    this.#order({ size: [rows, columns] });
  }

  /** Resolves once the screen shows this. */
  async shows(what: RegExp | string): Promise<string> {
    const holds = () => (typeof what === 'string' ? this.text.includes(what) : what.test(this.text));
    await poll(
      () => holds() || this.hasEnded,
      () => `${what} on the screen:\n${this.text}\n${this.#program.stderr}`,
    );
    if (!holds()) throw new Error(`it ended before ${what}: ${this.text}${this.#program.stderr}`);
    return this.text;
  }

  /** Sends a signal to the command. */
  signal(name: NodeJS.Signals): void {
    this.#program.child.kill(name);
  }

  ended(): Promise<Ended> {
    return this.#program.ended();
  }

  #order(order: object): void {
    this.#program.child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  async kill(): Promise<void> {
    if (!this.hasEnded) await this.#program.end('SIGKILL');
  }
}

/** Starts the command on a terminal that ends with the test. */
export function startOnTerminal(
  t: TestContext,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
  main?: string,
): EmulatedTerminal {
  const terminal = new EmulatedTerminal(args, env, main);
  t.after(() => terminal.kill());
  return terminal;
}
