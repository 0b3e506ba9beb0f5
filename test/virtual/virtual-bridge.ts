// Settings → a whole bridge in virtual time with sinks in memory; it can be stopped and killed.
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { webhookSink } from '../../adapters/webhook/webhook.ts';
import type { Bridge, BridgeOptions } from '../../src/bridge/bridge-options.ts';
import { startBridge } from '../../src/bridge.ts';
import { type CheckedConfig, checkConfig, configError } from '../../src/config/check-config.ts';
import { BridgeError } from '../../src/errors.ts';
import type { ReloadOutcome } from '../../src/http/reload-route.ts';
import type { MetadataTransport } from '../../src/metadata/transport.ts';
import { DATABASE_FILE } from '../../src/outbox/folder.ts';
import type { Deps } from '../../src/time/clock.ts';
import { schedulerOn } from '../../src/time/system.ts';
import { poll } from '../support/poll.ts';
import { type LogLine, SECOND } from './lane-fixture.ts';
import { type FarSide, MemorySinks } from './memory-sinks.ts';
import { type MemoryBroker, MemorySources } from './memory-source.ts';
import { temporaryFolder } from './outbox-fixture.ts';
import { Simulation } from './simulation.ts';
import { simulatorTransport } from './simulator-transport.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Sections of the configuration, as the file has them. */
export interface Settings {
  readonly metadata?: object;
  readonly cloudevents?: object;
  readonly publish?: object;
  readonly store?: object;
  readonly http?: object;
  readonly approvals?: object;
  readonly sinks?: object;
}

/** What an HTTP request to the bridge brought. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** When a process polled, in virtual wall time. */
export interface Run {
  readonly fromMs: number;
  /** Infinity while it runs. */
  toMs: number;
}

interface Process {
  readonly bridge: Bridge;
  readonly killed: AbortController;
  readonly run: Run;
}

/** The approvers that settings may name, and their tokens. */
const TOKENS = { orders: 'token-of-the-orders-service', billing: 'token-of-the-billing-service' } as const;

export { HOUR, MINUTE, SECOND } from './lane-fixture.ts';

/** A machine of a group, in place of one that is a group of its own. */
export interface VirtualMachine {
  readonly simulation: Simulation;
  /** Its own clocks and timers, on the time of the simulation. */
  readonly clocks: Pick<Deps, 'wallMs' | 'elapsedMs' | 'after'>;
}

/** Nothing runs before `start`; whatever runs at the end of the test is closed then. */
export class VirtualBridge {
  readonly simulation: Simulation;
  readonly sinks: MemorySinks;
  readonly sources: MemorySources;
  readonly logs: LogLine[] = [];
  readonly runs: Run[] = [];
  /** The metadata service as the bridge reaches it; the simulator by default. */
  service: MetadataTransport;
  settings: Settings;
  /** The store of the running or the next process. */
  folder: string;
  /** How large the disk is, in pages of 4 KiB; for `fillDisk`. */
  maxPages: number | undefined;
  /** `FULL`, as the product sets it, for tests of what a power cut leaves. */
  synchronous: 'FULL' | 'OFF' = 'OFF';
  readonly #root: string;
  readonly #clocks: VirtualMachine['clocks'];
  #process: Process | null = null;
  #kills = 0;

  constructor(
    t: TestContext,
    settings: Settings = {},
    options: { readonly seed?: number; readonly vmName?: string; readonly machine?: VirtualMachine } = {},
  ) {
    this.simulation = options.machine?.simulation ?? new Simulation(options);
    this.#clocks = options.machine?.clocks ?? this.time;
    this.sinks = new MemorySinks(this.time.wallMs);
    this.sources = new MemorySources(this.time.wallMs);
    this.service = simulatorTransport(this.simulation.simulator, this.time);
    this.settings = settings;
    // Hooks run in this order.
    t.after(() => this.kill());
    this.#root = temporaryFolder(t);
    this.folder = join(this.#root, 'store');
  }

  get time(): VirtualTime {
    return this.simulation.time;
  }

  /** The running one. */
  get bridge(): Bridge {
    if (this.#process === null) throw new Error('no bridge is running');
    return this.#process.bridge;
  }

  sink(name: string): FarSide {
    return this.sinks.side(name);
  }

  source(name: string): MemoryBroker {
    return this.sources.broker(name);
  }

  /** Starts a process on the store as it is. @throws what startBridge throws */
  async start(settings = this.settings): Promise<Bridge> {
    this.settings = settings;
    const killed = new AbortController();
    const checked = this.#read(killed.signal);
    if ('faults' in checked) throw configError(checked.faults);
    const { options: config, written } = checked;
    const file = { written, read: async () => this.#read(killed.signal) };
    const bridge = await startBridge({ ...this.#options(killed.signal), config, file });
    const run = { fromMs: this.time.wallMs(), toMs: Number.POSITIVE_INFINITY };
    this.runs.push(run);
    this.#process = { bridge, killed, run };
    return bridge;
  }

  /** Starts, and lets so much time pass. */
  async startFor(ms: number, settings = this.settings): Promise<void> {
    await this.start(settings);
    await this.advance(ms);
  }

  advance(ms: number): Promise<void> {
    return this.time.advance(ms);
  }

  /** The file says this from now on, and SIGHUP; resolves when it is in force or refused, and no time passes. */
  reload(settings: Settings, by = 'SIGHUP'): Promise<ReloadOutcome> {
    this.settings = settings;
    return this.bridge.reload(by);
  }

  /** SIGTERM: the time in which it has to have closed, ten seconds for most. */
  async stop(withinMs = 10 * SECOND): Promise<void> {
    const closing = this.#end().bridge[Symbol.asyncDispose]();
    await this.advance(withinMs);
    await closing;
  }

  /**
   * kill -9, and no time passes: what is on disk now is the next process's store. What is left of the old process is
   * cleared away on the files that it had; nothing that it still does is seen.
   */
  async kill(): Promise<void> {
    if (this.#process === null) return;
    const { bridge, killed } = this.#end();
    const survivor = join(this.#root, `store-after-kill-${++this.#kills}`);
    mkdirSync(survivor);
    for (const name of [DATABASE_FILE, `${DATABASE_FILE}-wal`]) {
      if (existsSync(join(this.folder, name))) copyFileSync(join(this.folder, name), join(survivor, name));
    }
    this.folder = survivor;
    killed.abort();
    await bridge[Symbol.asyncDispose]();
  }

  /**
   * Waits for what needs real I/O and perhaps virtual time: a tenth of a virtual second passes whenever it has not come
   * in `patienceMs` of real time.
   */
  async during<T>(work: Promise<T>, patienceMs = 50): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => {});
    while (!isDone) {
      await poll(() => isDone, 'an answer', patienceMs).catch(() => {});
      if (!isDone) await this.advance(100);
    }
    return done;
  }

  /** A request to the bridge's own HTTP interface. */
  async request(
    method: string,
    path: string,
    options: { readonly as?: keyof typeof TOKENS; readonly body?: object; readonly patienceMs?: number } = {},
  ): Promise<Reply> {
    const { as, body, patienceMs } = options;
    const headers = {
      ...(as ? { Authorization: `Bearer ${TOKENS[as]}` } : {}),
      ...(body ? { 'Content-Type': 'application/json' } : {}),
    };
    const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) };
    const exchange = async () => {
      const answer = await fetch(`${this.bridge.url}${path}`, init);
      return { status: answer.status, body: await answer.json() };
    };
    return this.during(exchange(), patienceMs);
  }

  /** Every line of `/metrics` that tells of a sink, without the prefix. */
  sinkMetrics(): Promise<readonly string[]> {
    return this.metrics(/^[a-z_]+\{sink=/);
  }

  /** The lines of `/metrics`, without the prefix, that match. */
  async metrics(which: RegExp): Promise<readonly string[]> {
    const answer = fetch(`${this.bridge.url}/metrics`).then((response) => response.text());
    const lines = (await this.during(answer)).split('\n').map((line) => line.replace('scheduled_events_bridge_', ''));
    return lines.filter((line) => which.test(line));
  }

  /** Runs SQL on the store by a connection of its own, as another process would. */
  beside(sql: string): Record<string, unknown>[] {
    const database = new DatabaseSync(join(this.folder, DATABASE_FILE));
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  }

  /** Something else takes all of the disk; what fits into pages that the store has may still be written. */
  fillDisk(): void {
    this.beside('CREATE TABLE filler (bytes BLOB)');
    this.beside(`INSERT INTO filler VALUES (zeroblob(${(this.maxPages ?? 0) * 4096}))`);
  }

  freeDisk(): void {
    this.beside('DROP TABLE filler');
  }

  /** The lines that hold this text. */
  logged(text: string): readonly LogLine[] {
    return this.logs.filter(({ msg }) => msg.includes(text));
  }

  #end(): Process {
    const process = this.#process;
    if (process === null) throw new Error('no bridge is running');
    this.#process = null;
    process.run.toMs = this.time.wallMs();
    return process;
  }

  #options(killed: AbortSignal): Omit<BridgeOptions, 'config'> {
    const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
    return {
      version: '0.0.0',
      deps: this.#deps(),
      logger: pino({ level: 'debug' }, { write: (line: string) => this.logs.push(JSON.parse(line) as LogLine) }),
      logLinesDropped: () => 0,
      stdout: sink,
      transport: async (request, signal) => {
        if (killed.aborted) throw new BridgeError('BRIDGE_METADATA_UNREACHABLE', 'this process was killed');
        return await this.service(request, signal);
      },
      store: { synchronous: this.synchronous, ...(this.maxPages === undefined ? {} : { maxPages: this.maxPages }) },
    };
  }

  /** The clocks of a process: its elapsed time begins with it, and timers are never early. */
  #deps(): Deps {
    const machine = this.#clocks;
    const startedMs = machine.elapsedMs();
    const after: Deps['after'] = (delayMs, run) => machine.after(Math.ceil(delayMs), run);
    const clocks = { wallMs: machine.wallMs, elapsedMs: () => machine.elapsedMs() - startedMs, after };
    return { ...clocks, random: this.time.random, scheduler: schedulerOn(clocks) };
  }

  #read(killed: AbortSignal): CheckedConfig {
    const { store, http, sinks, ...sections } = this.settings;
    const file = {
      version: 1,
      ...sections,
      store: { path: this.folder, ...store },
      http: { listen: '127.0.0.1:0', ...http },
      sinks: sinks ?? { audit: { type: 'memory' } },
    };
    const env = Object.fromEntries(
      Object.entries(TOKENS).map(([name, token]) => [`${name.toUpperCase()}_TOKEN`, token]),
    );
    return checkConfig(file, {
      adapters: [{ ...this.sinks.definition(killed), source: this.sources.definition(killed) }, webhookSink],
      env,
      directory: this.folder,
      readFile: () => '',
    });
  }
}
