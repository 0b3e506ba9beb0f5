// Names of the bridge's metrics → queries of the bridges that are chosen in the dashboard.

/** The bridges that are chosen at the top of the dashboard. */
const CHOSEN = 'instance=~"$instance"';

/** A metric of the chosen bridges. */
export function metric(name: string, ...labels: readonly string[]): string {
  return `scheduled_events_bridge_${name}{${[CHOSEN, ...labels].join(', ')}}`;
}

/** Of a counter, a second. */
export function rate(name: string): string {
  return `rate(${metric(name)}[$__rate_interval])`;
}

/** Of a histogram, over the same time. */
export function quantile(share: number, name: string, ...by: readonly string[]): string {
  return `histogram_quantile(${share}, sum by (${[...by, 'le'].join(', ')}) (${rate(`${name}_bucket`)}))`;
}
