// Results of reloads of the configuration → metrics.
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import type { NamedMetric } from './named-metric.ts';

const RESULTS = ['applied', 'faulty', 'needs-restart', 'failed'] as const;

export type ReloadResultLabel = (typeof RESULTS)[number];

/** @param startedAtMs when the process started, which also reads the configuration */
export function createReloadMetrics(
  named: NamedMetric,
  startedAtMs: number,
): (result: ReloadResultLabel, atMs: number) => void {
  const reloads = new Counter(named('config_reloads_total', 'Reloads of the configuration, by result.', ['result']));
  const successful = new Gauge(
    named('config_last_reload_successful', '1 if the last reload was applied, or there was none; otherwise 0.', []),
  );
  const lastSuccess = new Gauge(
    named(
      'config_last_reload_success_timestamp_seconds',
      'When the configuration in force was read, in Unix time.',
      [],
    ),
  );
  for (const result of RESULTS) reloads.inc({ result }, 0);
  successful.set(1);
  lastSuccess.set(startedAtMs / 1000);
  return (result, atMs) => {
    reloads.inc({ result });
    successful.set(result === 'applied' ? 1 : 0);
    if (result === 'applied') lastSuccess.set(atMs / 1000);
  };
}
