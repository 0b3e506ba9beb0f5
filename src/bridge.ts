// A configuration and the outside world → a running bridge: composes, starts and stops the parts.
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import { ReplaySubject } from 'rxjs';
import { createSource } from './bridge/approval-sources.ts';
import { type HttpInterface, openHttpInterface } from './bridge/http-interface.ts';
import { Identity } from './bridge/identity.ts';
import { MetadataSource } from './bridge/metadata-source.ts';
import { RunningFlow } from './bridge/running-flow.ts';
import { createAdapter, Sinks } from './bridge/sinks.ts';
import { Status } from './bridge/status.ts';
import { startUpkeep, type Upkeep } from './bridge/store-upkeep.ts';
import type { Config } from './config/config.ts';
import type { Transport } from './metadata/transport.ts';
import type { Instant, JournalEntry, PollResult } from './model/events.ts';
import type { OutboxOptions } from './outbox/open-store.ts';
import { type Outbox, openOutbox } from './outbox/outbox.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import { type Deps, now } from './time/clock.ts';

/** What was left over goes out once the VM is identified, or after this time: late is worse than the rare rows of a copied disk. */
const LANES_WAIT_MS = 5000;
const RETRY_MS = 1000;
/** For running deliveries at the end; with what is closed behind them it makes less than 10 s. */
const GRACE_MS = 8000;

export interface BridgeOptions {
  readonly config: Config;
  readonly version: string;
  readonly deps: Deps;
  readonly logger: Logger;
  readonly logLinesDropped: () => number;
  /** Where the stdout sink writes. */
  readonly stdout: Writable;
  /** To the metadata service; HTTP on a connection of its own by default. */
  readonly transport?: Transport;
  /** For tests: a quick store, or one on a full disk. */
  readonly store?: Pick<OutboxOptions, 'synchronous' | 'maxPages'>;
  readonly watch?: PollWatch;
}

/** Learns that polls begin, ask the metadata service, and end. */
export interface PollWatch {
  begins(): void;
  /** A request leaves, be it a poll's or not. */
  asks(): void;
  ended(isDocument: boolean): void;
}

/** A running bridge. Its disposal stops polling, lets running deliveries end, 10 s at most, and closes everything. */
export interface Bridge extends AsyncDisposable {
  /** `http://HOST:PORT`, `https://` with `http.tls`. */
  readonly url: string;
  /** Resolves when there is nothing left to do: the reader of the only sink, standard output, went away. */
  readonly ended: Promise<void>;
  readonly status: Status;
}

/** @throws BridgeError BRIDGE_CONFIG_INVALID, BRIDGE_STORE_* or BRIDGE_HTTP_*; then nothing is left open. */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { config, deps, logger, stdout } = options;
  // No I/O: faults that an adapter finds in its options come before anything is opened.
  for (const name of Object.keys(config.sinks)) createAdapter(name, config, { deps, logger, stdout });
  for (const name of Object.keys(config.approvals.sources)) createSource(name, config, { deps, logger, observerId: '' });
  const { path, maxBytes } = config.store;
  const outbox = openOutbox(path, { ...(maxBytes !== null && { maxBytes }), ...options.store, deps, lock: true });
  const bridge = new RunningBridge(options, outbox);
  try {
    await bridge.start();
    return bridge;
  } catch (error) {
    await bridge[Symbol.asyncDispose]();
    throw error;
  }
}

class RunningBridge implements Bridge {
  readonly #options: BridgeOptions;
  readonly #outbox: Outbox;
  readonly #sinks: Sinks;
  readonly #metadata: MetadataSource;
  readonly #identity: Identity;
  readonly #metrics: Metrics;
  readonly status: Status;
  readonly #polls$ = new ReplaySubject<PollResult>(1);
  readonly #stopping = new AbortController();
  readonly #ending = Promise.withResolvers<void>();
  /** Timers and subscriptions that end at once. */
  readonly #cancels: (() => void)[] = [];
  #upkeep: Upkeep | null = null;
  #http: HttpInterface | null = null;
  #flow: RunningFlow | null = null;
  #areLanesOpen = false;
  #closed: Promise<void> | null = null;

  constructor(options: BridgeOptions, outbox: Outbox) {
    const { config, deps, logger, version } = options;
    this.#options = options;
    this.#outbox = outbox;
    this.#sinks = new Sinks({ ...options, outbox });
    this.#metadata = new MetadataSource({
      ...options,
      storedGoodAt: outbox.known.load().lastGoodAt,
      onPoll: () => {
        options.watch?.begins();
        this.#upkeep?.pollBegins();
      },
      onRequest: () => options.watch?.asks(),
    });
    this.#identity = new Identity({
      outbox,
      configuredSource: config.cloudevents.source,
      told: config.cloudevents.observer,
      instance: (signal) => this.#metadata.client.instance(signal),
      deps,
      logger: logger.child({ area: 'identity' }),
      foreign: (vmId) => this.#setAside(vmId),
    });
    this.status = new Status({ ...options, outbox, identity: this.#identity, sinks: this.#sinks });
    const names = { version, sinks: Object.keys(config.sinks), sources: Object.keys(config.approvals.sources) };
    this.#metrics = createMetrics({ ...names, startedAtMs: deps.wallMs(), collect: () => this.status.snapshot() });
  }

  get url(): string {
    return this.#http?.url ?? '';
  }

  get ended(): Promise<void> {
    return this.#ending.promise;
  }

  /** Serves and polls at once; the lanes and the flow follow when it is known which VM this is. */
  async start(): Promise<void> {
    const { config, deps, logger } = this.#options;
    this.#http = await openHttpInterface({
      ...this.#options,
      readiness: (isWhole) => this.status.readiness(isWhole),
      metrics: () => this.#metrics.text(),
      events: () => this.status.events(),
      approvals: () => this.status.approvals,
      onUnauthorized: () => this.#metrics.unauthorized(),
      onConnectionDropped: (reason) => this.#metrics.connectionDropped(reason),
    });
    const firstRequestAt = now(deps);
    const polls = this.#metadata.polls$.subscribe((poll) => this.#polled(poll));
    const changedOutside = () => this.#sinks.wake();
    this.#upkeep = startUpkeep({ outbox: this.#outbox, retainMs: config.store.retainMs, deps, logger, changedOutside });
    this.#cancels.push(
      () => polls.unsubscribe(),
      this.#upkeep.stop,
      deps.after(LANES_WAIT_MS, () => this.#again(() => this.#openLanes())),
    );
    void this.#identity.run(this.#stopping.signal).catch((error: unknown) => logger.fatal({ err: error }, 'the VM cannot be identified'));
    void this.#identity.identified.then(() => this.#again(() => this.#begin(firstRequestAt)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #polled(poll: PollResult): void {
    this.#metrics.pollDone(poll.kind === 'document' ? 'document' : poll.result, poll.durationMs / 1000);
    this.#polls$.next(poll);
    this.#options.watch?.ended(poll.kind === 'document');
  }

  #begin(firstRequestAt: Instant): void {
    this.#openLanes();
    const flow = new RunningFlow({
      ...this.#options,
      outbox: this.#outbox,
      identity: this.#identity,
      metadata: this.#metadata,
      polls$: this.#polls$,
      firstRequestAt,
      onCommitted: (entries) => this.#committed(entries),
      onApproval: (name) => this.#metrics.approval(name),
      onMessage: (source, result) => this.#metrics.message(source, result),
    });
    try {
      flow.start();
    } catch (error) {
      // Nobody has seen it, and the next try makes another: one that knows nothing of what is stored would give wrong answers.
      void flow[Symbol.asyncDispose]();
      throw error;
    }
    this.#flow = flow;
    this.status.began(flow);
    this.#options.logger.info({ source: this.#identity.source, name: this.#identity.observer.name }, 'watching');
  }

  /** What needs the store is tried again each second while the store fails. */
  #again(work: () => void): void {
    if (this.#closed !== null) return;
    try {
      work();
    } catch (error) {
      this.#options.logger.error({ err: error }, 'the store fails: tried again in a second');
      this.#cancels.push(this.#options.deps.after(RETRY_MS, () => this.#again(work)));
    }
  }

  #openLanes(): void {
    if (this.#areLanesOpen) return;
    this.#sinks.open({
      onAttempt: (sink, { outcome, count, durationMs }) => {
        this.#metrics.delivered(sink, outcome, count);
        this.#metrics.attempted(sink, durationMs / 1000);
      },
      onState: (sink, { state }) => this.#sawState(sink, state),
    });
    this.#areLanesOpen = true;
  }

  async #setAside(vmId: string): Promise<void> {
    const { logger } = this.#options;
    const wereOpen = this.#areLanesOpen;
    await this.#sinks.close(0);
    const folder = this.#outbox.setAside(`vmId is ${vmId} now`);
    logger.warn(
      { area: 'store', folder },
      'the store was of another VM, as in a copied disk image: it is set aside in this folder, and nothing of it is compared or sent',
    );
    this.#areLanesOpen = false;
    if (wereOpen) this.#again(() => this.#openLanes());
  }

  #committed(entries: readonly JournalEntry[]): void {
    for (const { id, change } of entries) {
      this.#metrics.changed(change);
      this.#options.logger.info({ area: 'changes', id, change }, 'change stored');
    }
    this.#sinks.wake();
  }

  /** Standard output is the only sink, and its reader is gone: there is nothing left to do. */
  #sawState(sink: string, state: string): void {
    const { sinks } = this.#options.config;
    if (state === 'retired' && sinks[sink]?.type === 'stdout' && Object.keys(sinks).length === 1) this.#ending.resolve();
  }

  async #close(): Promise<void> {
    this.#stopping.abort();
    for (const cancel of this.#cancels) cancel();
    await Promise.allSettled([this.#http?.[Symbol.asyncDispose](), this.#flow?.[Symbol.asyncDispose](), this.#sinks.close(GRACE_MS)]);
    this.#metadata.close();
    this.#outbox.close();
  }
}
