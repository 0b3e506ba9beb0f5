// What the bridges deliver, approve and use → panels.
import { type Drawn, heading, lines, table, values } from './panels.ts';
import { metric, quantile, rate } from './queries.ts';

export const DELIVERY: readonly Drawn[] = [
  heading('Delivery'),
  lines({
    title: 'Deliveries by sink and outcome',
    description: 'A second; accepted, tried again, or given up.',
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
    description: 'By sink: the longest wait of any bridge.',
    queries: { '{{sink}}': `max by (sink) (${metric('oldest_undelivered_age_seconds')})` },
    unit: 's',
  }),
  lines({
    title: 'Queued',
    description: 'Deliveries that wait, by sink.',
    queries: { '{{sink}}': `sum by (sink) (${metric('sink_queue_length')})` },
    unit: 'none',
  }),
  lines({
    title: 'Dead letters',
    description: 'In the stores, by sink.',
    queries: { '{{sink}}': `sum by (sink) (${metric('dead_letters')})` },
    unit: 'none',
  }),
  lines(
    {
      title: 'Lanes by state',
      description: 'How many sinks of all bridges deliver, back off, or wait for somebody.',
      queries: { '{{state}}': `sum by (state) (${metric('sink_state')})` },
      unit: 'none',
    },
    true,
  ),
  table(
    {
      title: 'Sinks that do not deliver now',
      description: 'By bridge, with their states; docs/operate/delivery.md tells what each means.',
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
      title: 'NotBefore of what is not decided',
      description: 'Time until the earliest NotBefore that waits for an approver, or is held; below zero it is past.',
      queries: { '{{state}}': `min by (state) (${metric('approval_earliest_not_before_timestamp_seconds')}) - time()` },
      unit: 's',
      width: 8,
    },
    [
      { color: 'red', value: null },
      { color: 'orange', value: 180 },
      { color: 'blue', value: 600 },
    ],
    'nobody is waited for',
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
      description: '1 where approvals can be received.',
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
    description: 'By the state of their approvals.',
    queries: { '{{state}}': `max by (state) (${metric('approval_events')})` },
    unit: 'none',
    width: 12,
  }),
  lines({
    title: 'Steps of approvals',
    description: 'What became of them, and what was denied.',
    queries: { '{{result}}': `sum by (result) (increase(${metric('approvals_total')}[$__rate_interval])) > 0` },
    unit: 'none',
    width: 12,
  }),
];

export const PROCESS: readonly Drawn[] = [
  heading('Store and process'),
  lines({
    title: 'Size of the store',
    description: 'In use, and store.maxSize where one is set.',
    queries: { '{{instance}}': metric('store_bytes'), '{{instance}} max': metric('store_max_bytes') },
    unit: 'bytes',
  }),
  lines({
    title: 'Store can be written',
    description: '0: nothing is stored, and nothing new is sent.',
    queries: { '{{instance}}': metric('store_writable') },
    unit: 'none',
  }),
  lines({
    title: 'Configuration in force',
    description: '0: the last reload was refused, and the file is not what is in force.',
    queries: { '{{instance}}': metric('config_last_reload_successful') },
    unit: 'none',
  }),
  lines({
    title: 'Resident memory',
    description: 'Of each bridge.',
    queries: { '{{instance}}': metric('process_resident_memory_bytes') },
    unit: 'bytes',
  }),
  lines({
    title: 'Processor',
    description: 'Share of one core, user and system.',
    queries: { '{{instance}}': rate('process_cpu_seconds_total') },
    unit: 'percentunit',
  }),
  lines({
    title: 'Turned away, and lost',
    description: 'Requests without proof, connections that were ended, and log lines that nobody read, a second.',
    queries: {
      unauthorized: `sum(${rate('unauthorized_total')})`,
      'connections dropped, {{reason}}': `sum by (reason) (${rate('http_connections_dropped_total')})`,
      'log lines dropped': `sum(${rate('log_lines_dropped_total')})`,
    },
    unit: 'ops',
  }),
];
