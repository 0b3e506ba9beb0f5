// One machine of the group → its bridge: started, stopped, killed, started again on its store.
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Bridge } from '../../../src/bridge/bridge-options.ts';
import { startBridge } from '../../../src/bridge.ts';
import { checkConfig, configError } from '../../../src/config/check-config.ts';
import { messageOf } from '../../../src/errors.ts';
import { DATABASE_FILE } from '../../../src/outbox/folder.ts';
import type { Simulator } from '../../../src/simulator/simulator.ts';
import { MachineClock } from '../../virtual/machine-clock.ts';
import type { MemoryBroker } from '../../virtual/memory-source.ts';
import { MemorySources } from '../../virtual/memory-source.ts';
import { Chance } from './chance.ts';
import { FarSides } from './far-sides.ts';
import { type KillMoment, type Settings, TOKENS, TOPIC_APPROVER } from './history.ts';
import { askInMemory, type MemoryAnswer } from './memory-network.ts';
import { MetadataLink, type ServiceState } from './metadata-link.ts';
import type { Observation, Observations } from './observation.ts';
import type { SimulatedTime } from './simulated-time.ts';
import { diskFull, guardCommits, hasQueuedRows, unguardCommits } from './store-faults.ts';

/** What a machine sees, without what every observation has. */
type Seen = Observation extends infer Each
  ? Each extends unknown
    ? Omit<Each, 'atMs' | 'wallMs' | 'machine'>
    : never
  : never;

export interface MachineParts {
  readonly index: number;
  readonly seed: string;
  readonly time: SimulatedTime;
  readonly simulator: Simulator;
  readonly service: ServiceState;
  readonly observations: Observations;
  readonly settings: Settings;
  /** A folder of its own. */
  readonly root: string;
  /** Gives the number of the next StartRequest of the group. */
  readonly nextPost: () => number;
}

interface Process {
  readonly run: number;
  readonly killed: AbortController;
  /** Null while it starts. */
  bridge: Bridge | null;
}

export class Machine {
  readonly clock: MachineClock;
  readonly farSides: FarSides;
  readonly link: MetadataLink;
  readonly topic: MemoryBroker;
  /** The configuration of the running or the next process. */
  settings: Settings;
  kills = 0;
  readonly #parts: MachineParts;
  readonly #sources: MemorySources;
  /** Processes that were killed or are stopping: what is left of them ends in virtual time. */
  readonly #ending = new Set<Promise<unknown>>();
  #process: Process | null = null;
  #folder: string;
  #runs = 0;
  #fullUntilMs = 0;
  #fullAt: { readonly moment: KillMoment; readonly forMs: number } | null = null;
  #armed: { readonly moment: KillMoment; nth: number; readonly downMs: number } | null = null;

  constructor(parts: MachineParts) {
    const { time, seed, index, simulator } = parts;
    this.#parts = parts;
    this.settings = parts.settings;
    this.clock = new MachineClock(time);
    this.#folder = join(parts.root, 'store-0');
    const deps = {
      clock: this.clock,
      nowMs: time.elapsedMs,
      seed: `${seed} ${index}`,
      moment: (moment: KillMoment) => this.#moment(moment),
    };
    this.farSides = new FarSides({ ...deps, see: (seen) => this.see(seen) });
    this.link = new MetadataLink(
      {
        ...deps,
        simulator,
        killed: () => this.#process?.killed.signal ?? AbortSignal.abort(),
        seeDocument: (text) => this.see({ kind: 'document', text }),
        seePosted: (eventIds) => {
          const post = parts.nextPost();
          this.see({ kind: 'posted', post, eventIds });
          return post;
        },
        seeAccepted: (post, eventIds) => this.see({ kind: 'accepted', post, eventIds }),
        seeAnswered: (post, status) => this.see({ kind: 'answered', post, status }),
      },
      parts.service,
    );
    this.#sources = new MemorySources(this.clock.wallMs);
    this.topic = this.#sources.broker('topic');
    this.topic.onVerdict = ({ id }, verdict) => {
      if (verdict === 'settle') this.see({ kind: 'settled', message: id });
    };
  }

  get isRunning(): boolean {
    return this.#process?.bridge != null;
  }

  /** A process runs, and no row of its store waits for a delivery. */
  get isIdle(): boolean {
    return this.isRunning && !hasQueuedRows(join(this.#folder, DATABASE_FILE));
  }

  see(seen: Seen): void {
    const { observations, time, index } = this.#parts;
    observations.add({ atMs: time.nowMs, wallMs: this.clock.wallMs(), machine: index, ...seen } as Observation);
  }

  /** Starts a process on the store as it is; does nothing while one runs. */
  async start(): Promise<void> {
    if (this.#process !== null) return;
    const run = ++this.#runs;
    const process: Process = { run, killed: new AbortController(), bridge: null };
    this.#process = process;
    this.see({ kind: 'begun', run, settings: this.settings });
    this.#guard(process);
    try {
      const bridge = await this.#startBridge(process);
      process.bridge = bridge;
      if (process.killed.signal.aborted) this.#bury(bridge);
    } catch (error) {
      if (process.killed.signal.aborted) return;
      this.#process = null;
      this.see({ kind: 'failed', reason: this.#reasonOf(error) });
      // As a service manager does.
      this.#startIn(5000);
    }
  }

  /** SIGTERM. The process is gone when it has closed; then it starts again. */
  stop(downMs: number): void {
    const process = this.#process;
    if (process?.bridge == null) return;
    this.see({ kind: 'gone', how: 'stop' });
    const closed = Promise.resolve(process.bridge[Symbol.asyncDispose]()).then(() => {
      if (process.killed.signal.aborted) return;
      process.killed.abort();
      this.#process = null;
      this.see({ kind: 'gone', how: 'stopped' });
      this.#startIn(downMs);
    });
    this.#keep(closed);
  }

  /** kill -9, at any moment, even inside a call of the process: what is committed now is the next process's store. */
  kill(downMs: number): void {
    const process = this.#process;
    if (process === null) return;
    this.#armed = null;
    this.#process = null;
    this.kills += 1;
    this.see({ kind: 'gone', how: 'kill' });
    process.killed.abort();
    this.#inherit();
    if (process.bridge !== null) this.#bury(process.bridge);
    this.#startIn(downMs);
  }

  /** Kills at the nth such moment from now on. */
  killAt(moment: KillMoment, nth: number, downMs: number): void {
    this.#armed = { moment, nth, downMs };
  }

  freeze(forMs: number): void {
    if (this.clock.isFrozen) return;
    this.see({ kind: 'frozen' });
    this.clock.freeze();
    this.#parts.time.after(forMs, () => {
      this.see({ kind: 'thawed' });
      this.clock.thaw();
    });
  }

  jump(byMs: number): void {
    this.clock.skewMs += byMs;
    this.see({ kind: 'jumped', byMs });
  }

  fillDisk(forMs: number): void {
    this.#fullUntilMs = this.#parts.time.nowMs + forMs;
    this.see({ kind: 'disk', isFull: true });
    this.#parts.time.after(forMs, () => this.see({ kind: 'disk', isFull: false }));
  }

  /** From the next such moment on. */
  fillDiskAt(moment: KillMoment, forMs: number): void {
    this.#fullAt = { moment, forMs };
  }

  /** All that can fail works from now on. */
  heal(): void {
    this.#armed = null;
    this.#fullAt = null;
    this.#fullUntilMs = 0;
    this.link.heal();
    this.farSides.heal();
  }

  /** Without the folder, whose name is another one in each run. */
  #reasonOf(error: unknown): string {
    return messageOf(error).replaceAll(this.#parts.root, '');
  }

  /** The file says this from now on, and SIGHUP. */
  reload(settings: Settings): void {
    this.settings = settings;
    const process = this.#process;
    if (process?.bridge == null) return;
    this.clock.run(() => {
      const { bridge } = process;
      if (process.killed.signal.aborted || bridge === null) return;
      this.see({ kind: 'settings', settings, outcome: 'asked' });
      const done = bridge.reload('SIGHUP').then(
        ({ kind }) => process.killed.signal.aborted || this.see({ kind: 'settings', settings, outcome: kind }),
        (error: unknown) =>
          process.killed.signal.aborted || this.see({ kind: 'settings', settings, outcome: this.#reasonOf(error) }),
      );
      this.#keep(done);
    });
  }

  /** Null if there is no answer. */
  async ask(method: string, path: string, as: string, body?: object): Promise<MemoryAnswer | null> {
    const process = this.#process;
    if (process?.bridge == null) return null;
    if (this.clock.isFrozen) await new Promise<void>((resolve) => this.clock.run(resolve));
    if (process.killed.signal.aborted || process.bridge === null) return null;
    const answer = askInMemory(process.bridge.url, method, path, {
      ...(TOKENS[as] !== undefined && { token: TOKENS[as] }),
      ...(body !== undefined && { body }),
    });
    const died = new Promise<null>((resolve) =>
      process.killed.signal.addEventListener('abort', () => resolve(null), { once: true }),
    );
    return await Promise.race([answer, died]);
  }

  /** Kills what runs and waits, in virtual time, until nothing is left. */
  async end(): Promise<void> {
    const process = this.#process;
    this.#process = null;
    process?.killed.abort();
    if (process?.bridge != null) this.#bury(process.bridge);
    unguardCommits(join(this.#folder, DATABASE_FILE));
    await Promise.all(this.#ending);
  }

  #startIn(downMs: number): void {
    // A machine that stands still starts nothing.
    this.#parts.time.after(downMs, () => this.clock.run(() => void this.start()));
  }

  #moment(moment: KillMoment): void {
    if (this.#fullAt?.moment === moment) {
      this.fillDisk(this.#fullAt.forMs);
      this.#fullAt = null;
    }
    const armed = this.#armed;
    if (armed?.moment !== moment || this.#process === null || --armed.nth > 0) return;
    this.kill(armed.downMs);
  }

  /** The store of the next process is a copy, so that nothing that is left of this one can change it. */
  #inherit(): void {
    const folder = join(this.#parts.root, `store-${this.kills}`);
    mkdirSync(folder, { mode: 0o700 });
    for (const name of [DATABASE_FILE, `${DATABASE_FILE}-wal`])
      if (existsSync(join(this.#folder, name))) copyFileSync(join(this.#folder, name), join(folder, name));
    unguardCommits(join(this.#folder, DATABASE_FILE));
    this.#folder = folder;
  }

  #bury(bridge: Bridge): void {
    this.#keep(Promise.resolve(bridge[Symbol.asyncDispose]()));
  }

  #keep(work: Promise<unknown>): void {
    const ended: Promise<unknown> = work.catch(() => {}).finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  #guard(process: Process): void {
    const { time } = this.#parts;
    const isDead = () => process.killed.signal.aborted;
    guardCommits(join(this.#folder, DATABASE_FILE), {
      before: () => {
        if (!isDead()) this.#moment('commit');
        if (isDead() || time.nowMs >= this.#fullUntilMs) return;
        this.see({ kind: 'commit-failed' });
        throw diskFull();
      },
      after: () => {
        if (!isDead()) this.#moment('committed');
      },
    });
  }

  async #startBridge(process: Process): Promise<Bridge> {
    const { seed, index } = this.#parts;
    const checked = this.#read(process.killed.signal);
    if ('faults' in checked) throw configError(checked.faults);
    const { options: config, written } = checked;
    return await startBridge({
      config,
      file: { written, read: async () => this.#read(process.killed.signal) },
      version: '0.0.0',
      deps: this.clock.deps(new Chance(seed, index, process.run, 'process').next),
      logger: pino({ level: 'silent' }),
      logLinesDropped: () => 0,
      stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
      transport: this.link.transport,
      store: { synchronous: 'OFF' },
    });
  }

  #read(killed: AbortSignal): ReturnType<typeof checkConfig> {
    const { metadata, publish, approvals, sinks } = this.settings;
    const { approvers, ...rules } = approvals;
    const withTokens = Object.entries(approvers).map(([name, approver]) => [
      name,
      TOKENS[name] === undefined ? approver : { ...approver, token: { env: `${name.toUpperCase()}_TOKEN` } },
    ]);
    const file = {
      version: 1,
      metadata,
      publish,
      approvals: {
        ...rules,
        approvers: Object.fromEntries(withTokens),
        sources: { topic: { type: 'memory', approver: TOPIC_APPROVER } },
      },
      store: { path: this.#folder },
      http: { listen: '127.0.0.1:0' },
      sinks: Object.fromEntries(Object.entries(sinks).map(([name, sink]) => [name, { type: 'memory', ...sink }])),
    };
    return checkConfig(file, {
      adapters: [{ ...this.farSides.definition(killed), source: this.#sources.definition(killed) }],
      env: Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [`${name.toUpperCase()}_TOKEN`, token])),
      directory: this.#folder,
      readFile: () => '',
    });
  }

  /** Its files are not needed any more. */
  clear(): void {
    rmSync(this.#parts.root, { recursive: true, force: true });
  }
}
