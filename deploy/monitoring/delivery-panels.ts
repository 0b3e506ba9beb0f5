// Metrics of deliveries, approvals, store and process → panels.
import { type Drawn, heading, lines, table, values } from './panels.ts';
import { metric, quantile, rate } from './queries.ts';

export const DELIVERY: readonly Drawn[] = [
  heading('Delivery'),
  lines({
    title: 'Deliveries by sink and outcome',
    description: 'Per second: accepted, retried, or given up.',
    queries: { '{{sink}} {{result}}': `sum by (sink, result) (${rate('deliveries_total')})` },
    unit: 'ops',
  }),
  lines({
    title: 'Duration of an attempt, p99',
    description: 'By sink.',
    queries: { '{{sink}}': quantile(0.99, 'delivery_duration_seconds', 'sink') },
    unit: 's',
  }),
  lines({
    title: 'Oldest undelivered',
    description: 'The longest wait on any bridge, by sink.',
    queries: { '{{sink}}': `max by (sink) (${metric('oldest_undelivered_age_seconds')})` },
    unit: 's',
  }),
  lines({
    title: 'Queued',
    description: 'Queued deliveries, by sink.',
    queries: { '{{sink}}': `sum by (sink) (${metric('sink_queue_length')})` },
    unit: 'none',
  }),
  lines({
    title: 'Dead letters',
    description: 'Dead letters in the stores, by sink.',
    queries: { '{{sink}}': `sum by (sink) (${metric('dead_letters')})` },
    unit: 'none',
  }),
  lines(
    {
      title: 'Lanes by state',
      description: 'How many sinks of all bridges deliver, back off, or need an operator.',
      queries: { '{{state}}': `sum by (state) (${metric('sink_state')})` },
      unit: 'none',
    },
    true,
  ),
  table(
    {
      title: 'Sinks that do not deliver now',
      description: 'By bridge, with their states; docs/operate/delivery.md explains the states.',
      queries: { state: `${metric('sink_state', 'state!="delivering"')} == 1` },
      unit: 'none',
      width: 24,
    },
    'all deliver',
  ),
];

export const APPROVALS: readonly Drawn[] = [
  heading('Approvals'),
  values(
    {
      title: 'NotBefore of undecided events',
      description:
        'Time until the earliest NotBefore of an event that waits for an approver or is held; negative if it is past.',
      queries: { '{{state}}': `min by (state) (${metric('approval_earliest_not_before_timestamp_seconds')}) - time()` },
      unit: 's',
      width: 8,
    },
    [
      { color: 'red', value: null },
      { color: 'orange', value: 180 },
      { color: 'blue', value: 600 },
    ],
    'no event waits',
  ),
  values(
    {
      title: 'Accepted, not started',
      description: 'How long the oldest accepted StartRequest has waited for its event to start.',
      queries: { waiting: `max(${metric('approval_not_started_seconds')})` },
      unit: 's',
    },
    [{ color: 'green', value: null }],
    'unknown',
  ),
  values(
    {
      title: 'Sources of approvals',
      description: '1 if approvals can be received.',
      queries: { '{{source}}': `min by (source) (${metric('approval_source_up')})` },
      unit: 'none',
      width: 12,
    },
    [
      { color: 'red', value: null },
      { color: 'green', value: 1 },
    ],
    'none is configured',
  ),
  lines({
    title: 'Events with approvals',
    description: 'Events by the state of their approvals.',
    queries: { '{{state}}': `max by (state) (${metric('approval_events')})` },
    unit: 'none',
    width: 12,
  }),
  lines({
    title: 'Steps of approvals',
    description: 'Recorded steps and denied requests.',
    queries: { '{{result}}': `sum by (result) (increase(${metric('approvals_total')}[$__rate_interval])) > 0` },
    unit: 'none',
    width: 12,
  }),
];

export const PROCESS: readonly Drawn[] = [
  heading('Store and process'),
  lines({
    title: 'Size of the store',
    description: 'Bytes in use, and store.maxSize if set.',
    queries: { '{{instance}}': metric('store_bytes'), '{{instance}} max': metric('store_max_bytes') },
    unit: 'bytes',
  }),
  lines({
    title: 'Store can be written',
    description: '0: the bridge cannot store anything, and sends nothing new.',
    queries: { '{{instance}}': metric('store_writable') },
    unit: 'none',
  }),
  lines({
    title: 'Configuration in force',
    description: '0: the last reload was rejected, so the running configuration differs from the file.',
    queries: { '{{instance}}': metric('config_last_reload_successful') },
    unit: 'none',
  }),
  lines({
    title: 'Resident memory',
    description: 'By bridge.',
    queries: { '{{instance}}': metric('process_resident_memory_bytes') },
    unit: 'bytes',
  }),
  lines({
    title: 'Processor',
    description: 'Share of one core, user and system time.',
    queries: { '{{instance}}': rate('process_cpu_seconds_total') },
    unit: 'percentunit',
  }),
  lines({
    title: 'Rejected and dropped',
    description: 'Requests without valid credentials, closed connections and dropped log lines, per second.',
    queries: {
      unauthorized: `sum(${rate('unauthorized_total')})`,
      'connections dropped, {{reason}}': `sum by (reason) (${rate('http_connections_dropped_total')})`,
      'log lines dropped': `sum(${rate('log_lines_dropped_total')})`,
    },
    unit: 'ops',
  }),
];
