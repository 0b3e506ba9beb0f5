// A configuration → the built bridge as one process after the other, as a service manager runs it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Program, type ProgramOptions } from '../../support/program.ts';
import { type BridgeFolder, TOKEN, urlOf } from '../../support/running-bridge.ts';
import { dyingWithUs } from './leftovers.ts';
import { waitedMs } from './waits.ts';

const RESTART_MS = 200;

/** A process that has ended. */
export interface Gone {
  readonly atMs: number;
  readonly how: 'killed' | 'stopped' | 'by itself';
  readonly code: number | null;
  /** How long it took after its signal; 0 if it had none. */
  readonly tookMs: number;
  /** The end of its log. */
  readonly log: string;
}

/** From the start of a process after a kill to its first poll. */
export interface Recovery {
  readonly ms: number;
  /** The part of it in which other programs had the processors. */
  readonly waitedMs: number;
}

export class BridgeProcess {
  readonly gone: Gone[] = [];
  readonly recoveries: Recovery[] = [];
  /** Called with each new process. */
  readonly starts = new Set<(pid: number) => unknown>();
  /** Settings of the process that faults need: a launcher, flags, environment variables. */
  options: ProgramOptions = {};
  /** SIGSTOP is on. */
  isPaused = false;
  kills = 0;
  readonly #folder: BridgeFolder;
  readonly #env: Readonly<Record<string, string>>;
  readonly #programs: Program[] = [];
  #program: Program | null = null;
  #isWanted = false;
  #how: Gone['how'] = 'by itself';
  #toldMs: number | null = null;
  #startedMs: number | null = null;

  constructor(folder: BridgeFolder, env: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.#env = env;
  }

  /** Null while no process runs. */
  get pid(): number | null {
    return this.#program === null || this.#program.hasEnded ? null : (this.#program.child.pid ?? null);
  }

  /** Where it answers approvers; an empty text before it listens. */
  get url(): string {
    return this.#program === null ? '' : urlOf(this.#program);
  }

  get log(): string {
    return this.#program?.stderr ?? '';
  }

  /** Of all processes so far. */
  get wholeLog(): string {
    return this.#programs.map(({ stderr }) => stderr).join('');
  }

  /** Resolves when a process runs, and listens if `isListening`; after 10 s in any case. */
  async running(isListening = false): Promise<void> {
    const untilMs = performance.now() + 10_000;
    while ((this.pid === null || (isListening && this.url === '')) && performance.now() < untilMs) await pause(5);
  }

  start(isAfterKill = false): void {
    this.#isWanted = true;
    this.#how = 'by itself';
    this.#toldMs = null;
    this.#startedMs = isAfterKill ? performance.now() : null;
    const { env, launcher = [], ...options } = this.options;
    const program = new Program(['run', '--config', this.#folder.config], {
      ...options,
      launcher: [...dyingWithUs(), ...launcher],
      env: { TOKEN, ...this.#env, ...env },
    });
    this.#program = program;
    this.#programs.push(program);
    if (program.child.pid !== undefined) for (const tell of this.starts) tell(program.child.pid);
    void program.ended().then(({ code, stderr }) => {
      const atMs = performance.now();
      const tookMs = this.#toldMs === null ? 0 : atMs - this.#toldMs;
      this.gone.push({ atMs, how: this.#how, code, tookMs, log: stderr.slice(-1500) });
      if (this.#isWanted && this.#how === 'by itself')
        setTimeout(() => this.#isWanted && this.#program === program && this.start(), RESTART_MS);
    });
  }

  /** It polled. */
  showsLife(): void {
    if (this.#startedMs === null || this.pid === null) return;
    if (!this.isPaused) this.recoveries.push({ ms: performance.now() - this.#startedMs, waitedMs: waitedMs(this.pid) });
    this.#startedMs = null;
  }

  /** Kills it with signal 9 and starts another one. */
  async kill(): Promise<void> {
    const program = this.#program;
    if (program === null || !this.#isWanted) return;
    // One that ended by itself a moment ago is about to be started again.
    this.#how = 'killed';
    this.kills += 1;
    if (!program.hasEnded) await program.end('SIGKILL');
    if (this.#program === program && this.#isWanted) this.start(true);
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.#program?.hasEnded) this.#program?.child.kill(signal);
  }

  /** Stops it in good order and starts another one. */
  async restart(): Promise<void> {
    const program = this.#program;
    await this.#stop('SIGTERM');
    // A kill in the same moment may have started another one.
    if (this.#program === program && this.#isWanted) this.start();
  }

  /** Returns its exit code, or null if it had to be killed. */
  async end(): Promise<number | null> {
    this.#isWanted = false;
    return await this.#stop('SIGTERM');
  }

  /** For the end of a world that failed. */
  async dispose(): Promise<void> {
    this.#isWanted = false;
    this.signal('SIGCONT');
    await this.#stop('SIGKILL');
  }

  /** Writes other settings and has them read. */
  reload(change: (settings: Record<string, unknown>) => Record<string, unknown>): void {
    if (!existsSync(this.#folder.config)) return;
    const settings = JSON.parse(readFileSync(this.#folder.config, 'utf8')) as Record<string, unknown>;
    writeFileSync(this.#folder.config, JSON.stringify(change(settings)));
    // Before it listens, a process does not reload yet, and the signal would end it.
    if (this.url !== '') this.signal('SIGHUP');
  }

  async #stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const program = this.#program;
    if (program === null) return null;
    this.#how = 'stopped';
    this.#toldMs = performance.now();
    return program.hasEnded ? program.child.exitCode : (await program.end(signal)).code;
  }
}
