// Metrics of the metadata service and of events → panels, after an overview.
import { type Drawn, heading, lines, table, values } from './panels.ts';
import { metric, quantile, rate } from './queries.ts';

const GREEN = { color: 'green', value: null };
const red = (value: number) => ({ color: 'red', value });

export const NOW: readonly Drawn[] = [
  values(
    {
      title: 'Bridges',
      description: 'The number of scraped bridges, by version.',
      queries: { '{{version}}': `count by (version) (${metric('build_info')})` },
      unit: 'none',
    },
    [GREEN],
    'none',
  ),
  values(
    {
      title: 'Blind',
      description: 'Bridges without a good document for 60 s.',
      queries: { blind: `sum(${metric('blind')})` },
      unit: 'none',
    },
    [GREEN, red(1)],
    'unknown',
  ),
  values(
    {
      title: 'Next NotBefore',
      description: 'Time until the earliest NotBefore of announced events, by impact; negative if it is past.',
      queries: { '{{impact}}': `min by (impact) (${metric('earliest_not_before_timestamp_seconds')}) - time()` },
      unit: 's',
      width: 8,
    },
    [
      { color: 'red', value: null },
      { color: 'orange', value: 300 },
      { color: 'blue', value: 900 },
    ],
    'nothing is announced',
  ),
  values(
    {
      title: 'Oldest undelivered',
      description: 'How long the oldest CloudEvent of any sink has waited.',
      queries: { oldest: `max(${metric('oldest_undelivered_age_seconds')})` },
      unit: 's',
    },
    [GREEN, red(60)],
    'unknown',
  ),
  values(
    {
      title: 'Dead letters',
      description: 'Deliveries that were given up.',
      queries: { 'dead letters': `sum(${metric('dead_letters')})` },
      unit: 'none',
    },
    [GREEN, red(1)],
    'unknown',
  ),
];

export const SIGHT: readonly Drawn[] = [
  heading('Sight of the metadata service'),
  lines({
    title: 'Age of the last document',
    description: 'It grows while the metadata service does not answer; at 60 s the bridge is blind.',
    queries: { '{{instance}}': metric('document_age_seconds') },
    unit: 's',
  }),
  lines({
    title: 'Polls by result',
    description: 'Polls per second: documents and failures.',
    queries: { '{{result}}': `sum by (result) (${rate('polls_total')})` },
    unit: 'reqps',
  }),
  lines({
    title: 'Poll latency',
    description: 'From the request to the whole answer.',
    queries: { median: quantile(0.5, 'poll_duration_seconds'), p99: quantile(0.99, 'poll_duration_seconds') },
    unit: 's',
  }),
];

export const EVENTS: readonly Drawn[] = [
  heading('Events'),
  lines({
    title: 'Events known',
    description: 'The count of each bridge; the VMs of a group see the same events.',
    queries: { '{{instance}} {{state}}': metric('events') },
    unit: 'none',
  }),
  lines({
    title: 'Changes stored',
    description: 'By CloudEvent type without prefix and version.',
    queries: { '{{change}}': `sum by (change) (increase(${metric('changes_total')}[$__rate_interval])) > 0` },
    unit: 'none',
  }),
  table(
    {
      title: 'Earliest NotBefore by impact',
      description: 'Seconds until NotBefore, by bridge.',
      queries: { NotBefore: `sort(${metric('earliest_not_before_timestamp_seconds')} - time())` },
      unit: 's',
      width: 8,
    },
    'nothing is announced',
  ),
];
