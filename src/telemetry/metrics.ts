// Events of the bridge, and its state at a scrape → Prometheus text (docs/operate/metrics.md).

import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import type { MessageResult } from '../model/approvals.ts';
import { CHANGE_NAMES } from '../model/change-names.ts';
import { ATTEMPT_OUTCOMES, LANE_STATES, type SinkState } from '../model/deliveries.ts';
import { DROP_REASONS, type DropReason } from '../model/problems.ts';
import { type ApprovalSnapshot, createApprovalMetrics } from './approval-metrics.ts';
import { boundedLabel } from './label-values.ts';
import { namedIn } from './named-metric.ts';
import { type AnnouncedEvent, createNotBeforeGauge } from './not-before-gauge.ts';
import { createReloadMetrics, type ReloadResultLabel } from './reload-metrics.ts';
import { createSourceMetrics, type SourceSnapshot } from './source-metrics.ts';

/** Seconds, from a fast answer on the same host to the longest time-out. */
const POLL_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 130];
const DELIVERY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** A limit on label values, so that foreign values cannot create an unlimited number of series. */
const MOST_RESULTS = 32;

interface SinkSnapshot {
  readonly sink: string;
  /** The number of queued deliveries. */
  readonly queued: number;
  /** How long the oldest one has waited; null without one. */
  readonly oldestSeconds: number | null;
  readonly deadLetters: number;
  /** The state in `/readyz`. */
  readonly state: SinkState;
}

/** The state of the bridge at a scrape; null values are unknown, and absent from the answer. */
export interface Snapshot {
  readonly documentAgeSeconds: number | null;
  /** Positive: this machine is behind the metadata service. */
  readonly clockOffsetSeconds: number | null;
  /** Those that the configuration names, by the key that names each. */
  readonly certificates: readonly { readonly usedBy: string; readonly name: string; readonly expiresAtMs: number }[];
  readonly lastDocumentAtMs: number | null;
  readonly incarnation: number | null;
  /** True from `source.blind` to `source.restored`. */
  readonly isBlind: boolean | null;
  readonly events: { readonly scheduled: number; readonly started: number };
  /** Events in state scheduled. */
  readonly announced: readonly AnnouncedEvent[];
  readonly sinks: readonly SinkSnapshot[];
  readonly sources: readonly SourceSnapshot[];
  readonly approvals: ApprovalSnapshot;
  /** The number of readers of `GET /v1/stream`. */
  readonly streamReaders: number;
  readonly logLinesDropped: number;
  /** `maxBytes` is null without `store.maxSize`. */
  readonly store: { readonly bytes: number; readonly maxBytes: number | null; readonly isWritable: boolean | null };
}

export interface MetricsOptions {
  readonly version: string;
  /** When this process started, in wall time. */
  readonly startedAtMs: number;
  /** Names of the configured sinks; their series start at 0. */
  readonly sinks: readonly string[];
  /** Names of the configured sources of approvals. */
  readonly sources: readonly string[];
  /** The number of deprecated settings that the configuration in force uses. */
  readonly deprecatedSettings: number;
  /** Called at each scrape, so it must be cheap. */
  readonly collect: () => Snapshot;
}

export interface Metrics {
  /** `result`: `document`, or the label of a failure. */
  pollDone(result: string, seconds: number): void;
  /** A change was stored; `change` is its CloudEvent type without prefix and version. */
  changed(change: string): void;
  /** One attempt gave this result for `count` deliveries. */
  delivered(sink: string, result: string, count: number): void;
  /** The duration of one attempt, whatever its size and result. */
  attempted(sink: string, seconds: number): void;
  /** A step of an approval was recorded, or a request denied: `recorded`, `submitted`, `denied`. */
  approval(result: string): void;
  /** A request had no valid credential. */
  unauthorized(): void;
  /** A connection of a client was closed or rejected. */
  connectionDropped(reason: DropReason): void;
  /** A message of an approval source was handled, with this result. */
  message(source: string, result: MessageResult): void;
  /** The configuration was reloaded, or a reload failed. */
  reloaded(result: ReloadResultLabel, atMs: number): void;
  /** Starts the series of these names at 0, unless they exist, and shows the number of deprecated settings. */
  configured(names: Pick<MetricsOptions, 'sinks' | 'sources' | 'deprecatedSettings'>): void;
  /** Returns the answer to a scrape. @throws what `collect` throws */
  text(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** Uses its own registry, not the global one. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const counters = createCounters(registry);
  const show = createGauges(registry, options);
  const showAnnounced = createNotBeforeGauge(namedIn(registry));
  const sources = createSourceMetrics(namedIn(registry));
  const pollResult = boundedLabel(MOST_RESULTS);
  const deliveryResult = boundedLabel(ATTEMPT_OUTCOMES.length, ATTEMPT_OUTCOMES);
  const change = boundedLabel(CHANGE_NAMES.length, CHANGE_NAMES);
  const approvals = createApprovalMetrics(namedIn(registry));
  const deprecated = new Gauge(
    namedIn(registry)('deprecated_settings', 'Deprecated settings that the configuration in force uses.', []),
  );
  const configured: Metrics['configured'] = (names) => {
    for (const sink of names.sinks)
      for (const each of ATTEMPT_OUTCOMES) counters.deliveries.inc({ sink, result: each }, 0);
    sources.configured(names.sources);
    deprecated.set(names.deprecatedSettings);
  };
  configured(options);
  return {
    reloaded: createReloadMetrics(namedIn(registry), options.startedAtMs),
    configured,
    pollDone: (result, seconds) => {
      counters.polls.inc({ result: pollResult(result) });
      counters.pollDuration.observe(seconds);
    },
    changed: (name) => counters.changes.inc({ change: change(name) }),
    delivered: (sink, result, count) => counters.deliveries.inc({ sink, result: deliveryResult(result) }, count),
    attempted: (sink, seconds) => counters.deliveryDuration.observe({ sink }, seconds),
    approval: (result) => approvals.counted(result),
    unauthorized: () => counters.unauthorized.inc(),
    connectionDropped: (reason) => counters.droppedConnections.inc({ reason }),
    message: (source, result) => sources.message(source, result),
    text: async () => {
      const snapshot = options.collect();
      show(snapshot);
      showAnnounced(snapshot.announced);
      sources.show(snapshot.sources);
      approvals.show(snapshot.approvals);
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

function createCounters(registry: Registry) {
  const of = namedIn(registry);
  const counters = {
    polls: new Counter(of('polls_total', 'Polls of the metadata service, by result.', ['result'])),
    pollDuration: new Histogram({
      ...of('poll_duration_seconds', 'How long a poll took, from the request to the whole answer.', []),
      buckets: POLL_BUCKETS,
    }),
    changes: new Counter(
      of('changes_total', 'Changes stored, by CloudEvent type without prefix and version.', ['change']),
    ),
    deliveries: new Counter(of('deliveries_total', 'Deliveries attempted, by sink and result.', ['sink', 'result'])),
    deliveryDuration: new Histogram({
      ...of('delivery_duration_seconds', 'How long an attempt took, by sink.', ['sink']),
      buckets: DELIVERY_BUCKETS,
    }),
    unauthorized: new Counter(
      of('unauthorized_total', 'Requests to /v1 without a valid token, certificate or JWT.', []),
    ),
    droppedConnections: new Counter(
      of('http_connections_dropped_total', 'Connections of clients that were closed or rejected, by reason.', [
        'reason',
      ]),
    ),
  };
  for (const reason of DROP_REASONS) counters.droppedConnections.inc({ reason }, 0);
  for (const change of CHANGE_NAMES) counters.changes.inc({ change }, 0);
  return counters;
}

function gaugesIn(registry: Registry) {
  const of = namedIn(registry);
  return {
    age: new Gauge(of('document_age_seconds', 'Time since the last good document; absent before the first.', [])),
    clockOffset: new Gauge(
      of(
        'clock_offset_seconds',
        "The metadata service's clock minus this machine's; absent before the first answer.",
        [],
      ),
    ),
    certificateExpiry: new Gauge(
      of(
        'certificate_expiry_timestamp_seconds',
        'When a certificate that the configuration names expires, in Unix time, by the part that uses it and its key.',
        ['used_by', 'name'],
      ),
    ),
    lastDocument: new Gauge(
      of(
        'last_document_timestamp_seconds',
        'When the last good document was received, in Unix time; absent before the first.',
        [],
      ),
    ),
    incarnation: new Gauge(
      of('document_incarnation', 'DocumentIncarnation of the last good document; absent before the first.', []),
    ),
    blind: new Gauge(
      of('blind', '1 from source.blind to source.restored, otherwise 0; absent until the VM is identified.', []),
    ),
    events: new Gauge(of('events', 'Events that are listed now, by state.', ['state'])),
    queueLength: new Gauge(of('sink_queue_length', 'Queued deliveries, by sink.', ['sink'])),
    oldest: new Gauge(
      of('oldest_undelivered_age_seconds', 'How long the oldest queued delivery has waited, by sink; 0 without one.', [
        'sink',
      ]),
    ),
    deadLetters: new Gauge(of('dead_letters', 'Dead letters in the store, by sink.', ['sink'])),
    retired: new Gauge(
      of('sink_retired', '1 if the sink is retired until its configuration changes or `resume` is run, otherwise 0.', [
        'sink',
      ]),
    ),
    state: new Gauge(
      of('sink_state', '1 for the current state of the sink, 0 for the other states.', ['sink', 'state']),
    ),
    streamReaders: new Gauge(of('stream_readers', 'Readers of GET /v1/stream that are connected now.', [])),
    storeBytes: new Gauge(of('store_bytes', 'Bytes of the store in use, without its write-ahead log.', [])),
    storeMaxBytes: new Gauge(of('store_max_bytes', 'store.maxSize; absent without one.', [])),
    storeWritable: new Gauge(
      of('store_writable', '0 while the store cannot be written, otherwise 1; absent until the VM is identified.', []),
    ),
    memory: new Gauge(of('process_resident_memory_bytes', 'Resident memory of this process.', [])),
  };
}

/** Returns the function that sets all gauges from a snapshot. */
function createGauges(registry: Registry, { version, startedAtMs }: MetricsOptions): (snapshot: Snapshot) => void {
  const of = namedIn(registry);
  const gauges = gaugesIn(registry);
  const dropped = new Counter(
    of('log_lines_dropped_total', 'Log lines dropped because the reader of the log was too slow.', []),
  );
  const cpu = new Counter(of('process_cpu_seconds_total', 'Processor time of this process, user and system.', []));
  new Gauge(of('process_start_time_seconds', 'When this process started, in Unix time.', [])).set(startedAtMs / 1000);
  new Gauge(of('build_info', 'Always 1; the label has the version.', ['version'])).set({ version }, 1);

  return (snapshot) => {
    setOrRemove(gauges.age, snapshot.documentAgeSeconds);
    setOrRemove(gauges.clockOffset, snapshot.clockOffsetSeconds);
    gauges.certificateExpiry.reset();
    for (const { usedBy, name, expiresAtMs } of snapshot.certificates)
      gauges.certificateExpiry.set({ used_by: usedBy, name }, expiresAtMs / 1000);
    setOrRemove(gauges.lastDocument, snapshot.lastDocumentAtMs === null ? null : snapshot.lastDocumentAtMs / 1000);
    setOrRemove(gauges.incarnation, snapshot.incarnation);
    setOrRemove(gauges.blind, snapshot.isBlind === null ? null : Number(snapshot.isBlind));
    gauges.events.set({ state: 'scheduled' }, snapshot.events.scheduled);
    gauges.events.set({ state: 'started' }, snapshot.events.started);
    for (const gauge of [gauges.queueLength, gauges.oldest, gauges.deadLetters, gauges.retired, gauges.state])
      gauge.reset();
    for (const { sink, queued, oldestSeconds, deadLetters, state } of snapshot.sinks) {
      gauges.queueLength.set({ sink }, queued);
      gauges.oldest.set({ sink }, oldestSeconds ?? 0);
      gauges.deadLetters.set({ sink }, deadLetters);
      gauges.retired.set({ sink }, state === 'retired' ? 1 : 0);
      for (const each of LANE_STATES) gauges.state.set({ sink, state: each }, each === state ? 1 : 0);
    }
    gauges.streamReaders.set(snapshot.streamReaders);
    gauges.storeBytes.set(snapshot.store.bytes);
    setOrRemove(gauges.storeMaxBytes, snapshot.store.maxBytes);
    setOrRemove(gauges.storeWritable, snapshot.store.isWritable === null ? null : Number(snapshot.store.isWritable));
    setTotal(dropped, snapshot.logLinesDropped);
    const { user, system } = process.cpuUsage();
    setTotal(cpu, (user + system) / 1e6);
    gauges.memory.set(process.memoryUsage.rss());
  };
}

function setOrRemove(gauge: Gauge, value: number | null): void {
  if (value === null) gauge.remove();
  else gauge.set(value);
}

function setTotal(counter: Counter, total: number): void {
  counter.reset();
  counter.inc(total);
}
