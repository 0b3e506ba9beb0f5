// A configuration and the outside world → a running bridge: composes, starts and stops the parts.
import { ReplaySubject } from 'rxjs';
import { asyncApiOf } from './bridge/async-api.ts';
import type { Bridge, BridgeOptions } from './bridge/bridge-options.ts';
import { CertificateWatch } from './bridge/certificate-watch.ts';
import { changeFields } from './bridge/change-fields.ts';
import { type HttpInterface, openHttpInterface } from './bridge/http-interface.ts';
import { Identity } from './bridge/identity.ts';
import { ClockWatch, MetadataSource } from './bridge/metadata-source.ts';
import { openStreams } from './bridge/open-streams.ts';
import { Operations } from './bridge/operations.ts';
import { checkOptions, Reloads } from './bridge/reloads.ts';
import { RunningFlow, type RunningFlowParts } from './bridge/running-flow.ts';
import { Sinks } from './bridge/sinks.ts';
import { namesIn, Status } from './bridge/status.ts';
import { startUpkeep, type Upkeep } from './bridge/store-upkeep.ts';
import { StoreWork } from './bridge/store-work.ts';
import { VmFlow, type VmFlowParts } from './bridge/vm-flow.ts';
import type { Config } from './config/config.ts';
import { BridgeError } from './errors.ts';
import type { Instant, JournalledEntry, PollResult } from './model/events.ts';
import { startFault } from './outbox/errors.ts';
import { type Outbox, openOutbox } from './outbox/outbox.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import { now } from './time/clock.ts';
import { closeParts, DELIVERIES_MS } from './time/stop.ts';

/**
 * Queued rows are sent when documents are handled, or after this time. Late deliveries are worse than rare rows of a
 * copied disk.
 */
const LANES_WAIT_MS = 5000;

/** @throws BridgeError BRIDGE_CONFIG_INVALID, BRIDGE_STORE_* or BRIDGE_HTTP_*; then nothing stays open */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { config, deps } = options;
  checkOptions(config, options);
  const { path, maxBytes } = config.store;
  try {
    const outbox = openOutbox(path, { ...(maxBytes !== null && { maxBytes }), ...options.store, deps, lock: true });
    return await started(new RunningBridge(options, outbox));
  } catch (error) {
    throw startFault(error);
  }
}

async function started(bridge: RunningBridge): Promise<Bridge> {
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
  readonly #clock: ClockWatch;
  readonly #certificates: CertificateWatch;
  readonly #reloads: Reloads;
  readonly #started = Promise.withResolvers<void>();
  readonly status: Status;
  readonly #polls$ = new ReplaySubject<PollResult>(1);
  readonly #storeWork: StoreWork;
  readonly #operations: Operations;
  readonly #streams: ReturnType<typeof openStreams>;
  readonly #stopping = new AbortController();
  readonly #ending = Promise.withResolvers<void>();
  /** Timers and subscriptions, which end at once. */
  readonly #cancels: (() => void)[] = [];
  #upkeep: Upkeep | null = null;
  #http: HttpInterface | null = null;
  readonly #flow: VmFlow;
  #firstRequestAt: Instant;
  /** The configuration in force. */
  #config: Config;
  #closed: Promise<void> | null = null;

  constructor(options: BridgeOptions, outbox: Outbox) {
    const { config, deps, logger, version } = options;
    this.#options = options;
    this.#firstRequestAt = now(deps);
    this.#config = config;
    const { name, source } = outbox.identity.current;
    logger.info({ version, vm: name, source, dryRun: config.approvals.dryRun }, 'starting');
    this.#storeWork = new StoreWork(deps, logger);
    this.#clock = new ClockWatch(logger);
    this.#certificates = new CertificateWatch({ config, deps, logger });
    this.#outbox = outbox;
    this.#sinks = new Sinks({ ...options, outbox, flow: () => this.#flow.current });
    this.#operations = new Operations({ ...options, outbox, sinks: this.#sinks });
    this.#streams = openStreams(outbox, { ...options, listed: () => this.status.listed() });
    const onPoll = () => {
      options.watch?.begins();
      this.#upkeep?.pollBegins();
    };
    const storedGoodAt = outbox.known.load().lastGoodAt;
    this.#metadata = new MetadataSource({ ...options, storedGoodAt, onPoll, onRequest: () => options.watch?.asks() });
    this.#identity = new Identity({
      outbox,
      configuredSource: config.cloudevents.source,
      observerFields: config.cloudevents.observer,
      instance: (signal) => this.#metadata.client.instance(signal),
      deps,
      logger: logger.child({ area: 'identity' }),
      foreign: (vmId) => this.#setAside(vmId),
    });
    const create: VmFlowParts['create'] = (more) => this.#createFlow(more);
    const onFlow: VmFlowParts['onFlow'] = (flow) => this.status.began(flow);
    this.#flow = new VmFlow({
      identity: this.#identity,
      outbox,
      sinks: this.#sinks,
      create,
      onFlow,
      stop: this.#stopping.signal,
      logger,
    });
    const current = () => this.#config;
    this.#reloads = new Reloads({
      ...options,
      ready: this.#started.promise,
      current,
      apply: (next, paths) => this.#apply(next, paths),
      onReload: (result) => this.#metrics.reloaded(result, deps.wallMs()),
      onRequested: (admins, changed) => {
        for (const admin of admins) this.#storeWork.do(() => this.#operations.reloaded(admin, changed));
      },
    });
    const shown = {
      identity: this.#identity,
      metadata: this.#metadata,
      clock: this.#clock.offset,
      certificates: this.#certificates,
      current,
      sinks: this.#sinks,
      reloads: this.#reloads,
      streams: this.#streams,
    };
    this.status = new Status({ ...options, ...shown, outbox });
    this.#metrics = createMetrics({
      version,
      ...namesIn(config),
      startedAtMs: deps.wallMs(),
      collect: () => this.status.snapshot(),
    });
  }

  get url(): string {
    return this.#http?.url ?? '';
  }

  get ended(): Promise<void> {
    return this.#ending.promise;
  }

  /** Starts serving and polling at once. The lanes and the flow start when the store may be compared. */
  async start(): Promise<void> {
    const { config, deps, logger } = this.#options;
    this.#http = await openHttpInterface({
      ...this.#options,
      readiness: (isWhole) => this.status.readiness(isWhole),
      drain: () => this.status.drain(this.#config.http.drain),
      metrics: () => this.#metrics.text(),
      events: () => this.status.events(),
      approvals: () => this.status.approvals,
      reload: (...request) => this.reload(...request),
      operations: this.#operations,
      drills: () => this.#flow.drills,
      streams: this.#streams,
      asyncApi: asyncApiOf(() => this.#config),
      onUnauthorized: () => this.#metrics.unauthorized(),
      onConnectionDropped: (reason) => this.#metrics.connectionDropped(reason),
    });
    this.#firstRequestAt = now(deps);
    const polls = this.#metadata.polls$.subscribe((poll) => this.#polled(poll));
    const changedOutside = () => this.#sinks.wake();
    this.#upkeep = startUpkeep({ outbox: this.#outbox, retainMs: config.store.retainMs, deps, logger, changedOutside });
    this.#certificates.start();
    this.#cancels.push(
      () => polls.unsubscribe(),
      this.#upkeep.stop,
      () => this.#certificates.stop(),
    );
    this.#storeWork.doIn(LANES_WAIT_MS, () => this.#openLanes());
    void this.#identity
      .run(this.#stopping.signal)
      .catch((error: unknown) => logger.fatal({ err: error }, 'the VM cannot be identified'));
    for (const known of [this.#identity.presumed, this.#identity.identified])
      void known.then(() => this.#storeWork.do(() => this.#begin()));
    this.#started.resolve();
  }

  reload(...request: Parameters<Reloads['request']>): ReturnType<Reloads['request']> {
    return this.#reloads.request(...request);
  }

  /** Steps that can fail come first. */
  #apply(config: Config, paths: readonly string[]): { readonly settled: Promise<unknown> } {
    if (this.#closed !== null)
      throw new BridgeError('BRIDGE_APPROVALS_CLOSED', 'The bridge is stopping; its next start reads the file.');
    this.#sinks.prepare(config);
    this.#flow.current?.reload(config);
    this.#config = config;
    this.#metadata.reload(config.metadata);
    this.#options.watch?.follows(config.metadata);
    this.#http?.reload(config, paths);
    this.#certificates.reload(config);
    this.#metrics.configured(namesIn(config));
    return {
      settled: Promise.all([this.#sinks.reload(config, paths), this.#flow.current?.sources.reload(config, paths)]),
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #polled(poll: PollResult): void {
    this.#metrics.pollDone(poll.kind === 'document' ? 'document' : poll.result, poll.durationMs / 1000);
    this.#clock.polled(poll);
    this.#polls$.next(poll);
    this.#options.watch?.ended(poll.kind === 'document');
  }

  #begin(): void {
    if (!this.#identity.isPresumed) return;
    this.#openLanes();
    this.#flow.begin();
    // Work that waited for the store has finished.
    this.#sinks.wake();
  }

  #createFlow(more: Pick<RunningFlowParts, 'wasApproved'>): RunningFlow {
    return new RunningFlow({
      ...{ ...this.#options, ...more, config: this.#config, outbox: this.#outbox, identity: this.#identity },
      ...{ metadata: this.#metadata, polls$: this.#polls$, firstRequestAt: this.#firstRequestAt },
      onCommitted: (entries) => this.#committed(entries),
      onApproval: (name) => this.#metrics.approval(name),
      onMessage: (source, result) => this.#metrics.message(source, result),
    });
  }

  #openLanes(): void {
    if (this.#sinks.isOpen) return;
    this.#sinks.open({
      onAttempt: (sink, { outcome, count, durationMs }) => {
        this.#metrics.delivered(sink, outcome, count);
        this.#metrics.attempted(sink, durationMs / 1000);
      },
      onState: (sink, { state }) => this.#sawState(sink, state),
    });
  }

  async #setAside(vmId: string): Promise<void> {
    const wereOpen = this.#sinks.isOpen;
    // Positions start from the beginning.
    this.#streams.endAll();
    await this.#flow.setAside(vmId);
    if (wereOpen) this.#storeWork.do(() => this.#openLanes());
  }

  /** Deliveries begin first: what the log says of a change takes longer to find out. */
  #committed(entries: readonly JournalledEntry[]): void {
    this.#flow.committed(entries);
    this.#sinks.wake();
    this.#streams.committed(entries);
    for (const { change } of entries) this.#metrics.changed(change);
    this.#logChanges(entries);
  }

  #logChanges(entries: readonly JournalledEntry[]): void {
    const { logger } = this.#options;
    if (!logger.isLevelEnabled('info')) return;
    const { dryRun } = this.#config.approvals;
    for (const entry of entries)
      logger.info({ area: 'changes', ...changeFields(entry, this.#flow.current, dryRun) }, 'change stored');
  }

  /** Returns whether nothing is left to do, because standard output is the only sink and its reader has closed it. */
  #sawState(sink: string, state: string): void {
    const { sinks } = this.#config;
    if (state === 'retired' && sinks[sink]?.type === 'stdout' && Object.keys(sinks).length === 1)
      this.#ending.resolve();
  }

  async #close(): Promise<void> {
    this.#stopping.abort();
    this.#storeWork.stop();
    for (const cancel of this.#cancels) cancel();
    const parts = {
      http: () => this.#http?.[Symbol.asyncDispose](),
      approvals: () => this.#flow[Symbol.asyncDispose](),
      sinks: () => this.#sinks.close(DELIVERIES_MS),
    };
    await closeParts(parts, this.#options.deps, this.#options.logger);
    this.#metadata.close();
    this.#outbox.close();
  }
}
