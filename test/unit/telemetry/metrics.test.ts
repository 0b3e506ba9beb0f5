// createMetrics → counters and scrapes, and docs/operate/metrics.md compared both ways.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createMetrics, type Metrics, type MetricsOptions, type Snapshot } from '../../../src/telemetry/metrics.ts';

const NOTHING: Snapshot = {
  documentAgeSeconds: null,
  clockOffsetSeconds: null,
  certificates: [],
  lastDocumentAtMs: null,
  incarnation: null,
  isBlind: null,
  events: { scheduled: 0, started: 0 },
  announced: [],
  sinks: [],
  sources: [],
  approvals: { states: [], notStartedSeconds: 0, awaited: [], isAllHeld: false },
  streamReaders: 0,
  logLinesDropped: 0,
  store: { bytes: 40_960, maxBytes: null, isWritable: null },
};

function metricsOf(snapshot: Partial<Snapshot> = {}, options: Partial<MetricsOptions> = {}): Metrics {
  return createMetrics({
    version: '1.2.3',
    startedAtMs: 1_767_225_600_000,
    sinks: ['hooks'],
    sources: ['queue'],
    deprecatedSettings: 0,
    collect: () => ({ ...NOTHING, ...snapshot }),
    ...options,
  });
}

/** The samples of a scrape by name and labels, prefix cut. */
async function samples(metrics: Metrics): Promise<Map<string, number>> {
  const { body } = await metrics.text();
  const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [
      line.slice('scheduled_events_bridge_'.length, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}

test('polls are counted by result and timed', async () => {
  const metrics = metricsOf();
  metrics.pollDone('document', 0.004);
  metrics.pollDone('document', 0.3);
  metrics.pollDone('timeout', 10);
  const seen = await samples(metrics);
  assert.equal(seen.get('polls_total{result="document"}'), 2);
  assert.equal(seen.get('polls_total{result="timeout"}'), 1);
  assert.equal(seen.get('poll_duration_seconds_bucket{le="0.005"}'), 1);
  assert.equal(seen.get('poll_duration_seconds_bucket{le="5"}'), 2);
  assert.equal(seen.get('poll_duration_seconds_count'), 3);
});

test('deliveries are counted by sink and result, and timed by attempt', async () => {
  const metrics = metricsOf();
  metrics.delivered('hooks', 'accepted', 3);
  metrics.delivered('hooks', 'retry', 1);
  metrics.attempted('hooks', 0.02);
  const seen = await samples(metrics);
  assert.equal(seen.get('deliveries_total{sink="hooks",result="accepted"}'), 3);
  assert.equal(seen.get('deliveries_total{sink="hooks",result="retry"}'), 1);
  assert.equal(seen.get('deliveries_total{sink="hooks",result="expired"}'), 0);
  assert.equal(seen.get('delivery_duration_seconds_count{sink="hooks"}'), 1);
});

test('messages of sources are counted by result, and an unavailable source shows 0', async () => {
  const metrics = metricsOf({ sources: [{ source: 'queue', isUp: true }] });
  metrics.message('queue', 'parked');
  metrics.message('queue', 'settled');
  const seen = await samples(metrics);
  assert.equal(seen.get('approval_messages_total{source="queue",result="parked"}'), 1);
  assert.equal(seen.get('approval_messages_total{source="queue",result="settled"}'), 1);
  assert.equal(seen.get('approval_messages_total{source="queue",result="refused"}'), 0);
  assert.equal(seen.get('approval_source_up{source="queue"}'), 1);
  const away = await samples(metricsOf({ sources: [{ source: 'queue', isUp: false }] }));
  assert.equal(away.get('approval_source_up{source="queue"}'), 0);
});

test('changes and approvals are counted', async () => {
  const metrics = metricsOf();
  metrics.changed('scheduled');
  metrics.changed('source.blind');
  metrics.approval('submitted');
  metrics.unauthorized();
  const seen = await samples(metrics);
  assert.deepEqual(
    [seen.get('changes_total{change="scheduled"}'), seen.get('changes_total{change="source.blind"}')],
    [1, 1],
  );
  assert.equal(seen.get('changes_total{change="ended"}'), 0);
  assert.equal(seen.get('approvals_total{result="submitted"}'), 1);
  assert.equal(seen.get('unauthorized_total'), 1);
});

test('dropped connections are counted by reason, from 0 on', async () => {
  const metrics = metricsOf();
  metrics.connectionDropped('unread');
  const seen = await samples(metrics);
  const counts = ['crowded', 'full', 'unread'].map((reason) =>
    seen.get(`http_connections_dropped_total{reason="${reason}"}`),
  );
  assert.deepEqual(counts, [0, 0, 1]);
});

test('a scrape shows the current state', async () => {
  let snapshot: Snapshot = {
    documentAgeSeconds: 0.5,
    clockOffsetSeconds: -7.5,
    certificates: [{ usedBy: 'listener', name: 'http.tls.cert', expiresAtMs: 1_767_225_600_000 }],
    lastDocumentAtMs: 1_767_225_600_500,
    incarnation: 7,
    isBlind: true,
    events: { scheduled: 2, started: 1 },
    announced: [],
    sinks: [
      { sink: 'hooks', queued: 3, oldestSeconds: 12.5, deadLetters: 4, state: 'retired' },
      { sink: 'audit', queued: 0, oldestSeconds: null, deadLetters: 0, state: 'backing off' },
    ],
    sources: [],
    approvals: { states: ['submitted', 'held', 'submitted'], notStartedSeconds: 42, awaited: [], isAllHeld: true },
    streamReaders: 6,
    logLinesDropped: 5,
    store: { bytes: 8_192, maxBytes: 16_777_216, isWritable: false },
  };
  const metrics = metricsOf({}, { collect: () => snapshot });
  const seen = await samples(metrics);
  const expected: [string, number][] = [
    ['document_age_seconds', 0.5],
    ['stream_readers', 6],
    ['last_document_timestamp_seconds', 1_767_225_600.5],
    ['document_incarnation', 7],
    ['blind', 1],
    ['events{state="scheduled"}', 2],
    ['events{state="started"}', 1],
    ['sink_queue_length{sink="hooks"}', 3],
    ['oldest_undelivered_age_seconds{sink="hooks"}', 12.5],
    ['oldest_undelivered_age_seconds{sink="audit"}', 0],
    ['dead_letters{sink="hooks"}', 4],
    ['sink_retired{sink="hooks"}', 1],
    ['sink_retired{sink="audit"}', 0],
    ['sink_state{sink="hooks",state="retired"}', 1],
    ['sink_state{sink="hooks",state="delivering"}', 0],
    ['sink_state{sink="audit",state="backing off"}', 1],
    ['sink_state{sink="audit",state="misconfigured"}', 0],
    ['approval_events{state="submitted"}', 2],
    ['approval_events{state="held"}', 1],
    ['approval_events{state="waiting"}', 0],
    ['approval_not_started_seconds', 42],
    ['log_lines_dropped_total', 5],
    ['store_bytes', 8192],
    ['store_max_bytes', 16_777_216],
    ['store_writable', 0],
    ['build_info{version="1.2.3"}', 1],
    ['process_start_time_seconds', 1_767_225_600],
  ];
  for (const [name, value] of expected) assert.equal(seen.get(name), value, name);
  assert.ok((seen.get('process_resident_memory_bytes') ?? 0) > 1e6);
  assert.ok((seen.get('process_cpu_seconds_total') ?? 0) > 0);

  snapshot = {
    ...snapshot,
    sinks: [],
    logLinesDropped: 6,
    isBlind: false,
    store: { bytes: 4096, maxBytes: null, isWritable: true },
  };
  const later = await samples(metrics);
  assert.equal(later.has('sink_queue_length{sink="hooks"}'), false);
  assert.equal(later.get('log_lines_dropped_total'), 6);
  assert.deepEqual([later.get('store_bytes'), later.has('store_max_bytes')], [4096, false]);
  assert.deepEqual([later.get('blind'), later.get('store_writable')], [0, 1]);
});

test('the earliest NotBefore is shown for each impact, and no longer than the event is announced', async () => {
  const announced = [
    { eventType: 'Redeploy', notBefore: '2026-01-01T00:10:00Z' },
    { eventType: 'Redeploy', notBefore: '2026-01-01T00:05:00Z' },
    { eventType: 'redeploy', notBefore: '2026-01-01T00:20:00Z' },
    { eventType: 'Freeze', notBefore: null },
    { eventType: '', notBefore: '2026-01-01T00:00:02Z' },
    { eventType: 'SpotRebalanceRecommendation', notBefore: '2026-01-01T00:00:01Z' },
    ...Array.from({ length: 1000 }, (_, index) => ({ eventType: `New${index}`, notBefore: '2026-01-01T00:30:00Z' })),
  ];
  let snapshot = { ...NOTHING, announced };
  const metrics = metricsOf({}, { collect: () => snapshot });
  const shown = async () => [...(await samples(metrics))].filter(([name]) => name.startsWith('earliest_not_before'));
  const name = (impact: string) => `earliest_not_before_timestamp_seconds{impact="${impact}"}`;
  assert.deepEqual(await shown(), [
    [name('redeploy'), Date.UTC(2026, 0, 1, 0, 5) / 1000],
    [name('other'), Date.UTC(2026, 0, 1, 0, 0, 1) / 1000],
  ]);
  snapshot = NOTHING as typeof snapshot;
  assert.deepEqual(await shown(), []);
});

test('the earliest NotBefore of waiting and held events is shown only while they wait or are held', async () => {
  const awaited = [
    { state: 'waiting', notBefore: '2026-01-01T00:10:00Z' },
    { state: 'waiting', notBefore: '2026-01-01T00:05:00Z' },
    { state: 'held', notBefore: '2026-01-01T00:01:00Z' },
  ] as const;
  let snapshot: Snapshot = { ...NOTHING, approvals: { states: [], notStartedSeconds: 0, awaited, isAllHeld: false } };
  const metrics = metricsOf({}, { collect: () => snapshot });
  const shown = async () => [...(await samples(metrics))].filter(([name]) => name.startsWith('approval_earliest'));
  const name = (state: string) => `approval_earliest_not_before_timestamp_seconds{state="${state}"}`;
  const at = (minute: number) => Date.UTC(2026, 0, 1, 0, minute) / 1000;
  assert.deepEqual(await shown(), [
    [name('waiting'), at(5)],
    [name('held'), at(1)],
  ]);
  snapshot = NOTHING;
  assert.deepEqual(await shown(), []);
});

test('an unknown value is absent, not 0', async () => {
  const seen = await samples(metricsOf());
  for (const name of [
    'document_age_seconds',
    'last_document_timestamp_seconds',
    'document_incarnation',
    'blind',
    'store_writable',
  ])
    assert.equal(seen.has(name), false, name);
});

test('foreign label values cannot create an unlimited number of series', async () => {
  const metrics = metricsOf();
  for (let index = 0; index < 1000; index++) {
    metrics.pollDone(`status_${index}`, 0);
    metrics.approval(`state ${index}`);
    metrics.delivered('hooks', `result_${index}`, 1);
    metrics.changed(`change_${index}`);
  }
  const seen = await samples(metrics);
  const series = (name: string) => [...seen.keys()].filter((key) => key.startsWith(`${name}{`)).length;
  assert.equal(series('polls_total'), 33);
  assert.equal(seen.get('polls_total{result="other"}'), 968);
  assert.equal(seen.get('approvals_total{result="other"}'), 1000);
  assert.equal(seen.get('deliveries_total{sink="hooks",result="other"}'), 1000);
  assert.equal(seen.get('changes_total{change="other"}'), 1000);
});

test('two bridges in one process count separately', async () => {
  const [one, other] = [metricsOf(), metricsOf()];
  one.changed('ended');
  assert.equal((await samples(other)).get('changes_total{change="ended"}'), 0);
});

test('a scrape fails if the state cannot be read, and the next one works', async () => {
  let fails = true;
  const metrics = metricsOf(
    {},
    {
      collect: () => {
        if (fails) throw new Error('disk');
        return NOTHING;
      },
    },
  );
  await assert.rejects(metrics.text(), /disk/);
  fails = false;
  assert.match((await metrics.text()).contentType, /^text\/plain; version=0\.0\.4/);
});

/** Name and type of every metric, in order. */
async function exposed(): Promise<[name: string, type: string][]> {
  const { body } = await metricsOf().text();
  return [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [String(name), String(type)]);
}

test("names follow Prometheus' conventions", async () => {
  for (const [name, type] of await exposed()) {
    assert.match(name, /^scheduled_events_bridge_[a-z]+(_[a-z]+)*$/);
    assert.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
    assert.doesNotMatch(
      name,
      /_(count|sum|bucket|counter|gauge|histogram|milliseconds|ms|minutes|hours|kilobytes|percent)(_|$)/,
    );
    if (/_(duration|age|timestamp|time|cpu)_/.test(name)) assert.match(name, /_seconds(_total)?$/);
    if (/memory/.test(name)) assert.match(name, /_bytes$/);
  }
});

test('the documentation lists every metric with its type, and none that does not exist', async () => {
  const doc = readFileSync(new URL('../../../docs/operate/metrics.md', import.meta.url), 'utf8');
  const rows = [...doc.matchAll(/^\| `(scheduled_events_bridge_\w+)` \| (\w+) \|/gm)].map(
    ([, name, type]) => `${name} ${type}`,
  );
  assert.deepEqual(rows.sort(), (await exposed()).map((metric) => metric.join(' ')).sort());
});
