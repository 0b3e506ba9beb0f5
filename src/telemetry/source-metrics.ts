// Messages of approval sources, and each source's state → metrics.
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import { MESSAGE_RESULTS, type MessageResult } from '../model/approvals.ts';
import type { NamedMetric } from './named-metric.ts';

export interface SourceSnapshot {
  readonly source: string;
  /** Whether messages can be received now. */
  readonly isUp: boolean;
}

interface SourceMetrics {
  message(source: string, result: MessageResult): void;
  /** Starts the series of these names at 0, unless they exist. */
  configured(sources: readonly string[]): void;
  /** Called at a scrape. */
  show(sources: readonly SourceSnapshot[]): void;
}

export function createSourceMetrics(named: NamedMetric): SourceMetrics {
  const messages = new Counter(
    named('approval_messages_total', 'Messages of approval sources, by source and result.', ['source', 'result']),
  );
  const up = new Gauge(
    named('approval_source_up', '1 if approvals can be received from the source now, otherwise 0.', ['source']),
  );
  let names: readonly string[] = [];
  return {
    configured: (sources) => {
      names = sources;
      for (const source of sources) for (const result of MESSAGE_RESULTS) messages.inc({ source, result }, 0);
    },
    message: (source, result) => messages.inc({ source, result }),
    show: (snapshots) => {
      up.reset();
      for (const source of names) up.set({ source }, 0);
      for (const { source, isUp } of snapshots) up.set({ source }, isUp ? 1 : 0);
    },
  };
}
