// Announced events at a scrape → the earliest NotBefore of each impact.
import Gauge from 'prom-client/lib/gauge.js';
import { IMPACTS } from '../model/events.ts';
import { boundedLabel } from './label-values.ts';
import type { NamedMetric } from './named-metric.ts';

/** The fields of an event that the metric needs. */
export interface AnnouncedEvent {
  readonly eventType: string;
  /** RFC 3339; null if absent. */
  readonly notBefore: string | null;
}

/** @returns a function that updates the gauge; an impact without a time has no series */
export function createNotBeforeGauge(named: NamedMetric): (announced: readonly AnnouncedEvent[]) => void {
  const gauge = new Gauge(
    named(
      'earliest_not_before_timestamp_seconds',
      'Earliest NotBefore of the events in state scheduled, in Unix time, by impact.',
      ['impact'],
    ),
  );
  const impactOf = boundedLabel(
    IMPACTS.length,
    IMPACTS.map((impact) => impact.toLowerCase()),
  );
  return (announced) => {
    const earliest = new Map<string, number>();
    for (const { eventType, notBefore } of announced) {
      if (notBefore === null) continue;
      const impact = impactOf(eventType.toLowerCase());
      earliest.set(impact, Math.min(earliest.get(impact) ?? Number.POSITIVE_INFINITY, Date.parse(notBefore) / 1000));
    }
    gauge.reset();
    for (const [impact, seconds] of earliest) gauge.set({ impact }, seconds);
  };
}
