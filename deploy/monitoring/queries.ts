// Names of metrics → queries for the bridges that the user selects in the dashboard.

/** Selects the bridges that the user selects at the top of the dashboard. */
const CHOSEN = 'instance=~"$instance"';

/** Returns the query of a metric of the selected bridges. */
export function metric(name: string, ...labels: readonly string[]): string {
  return `scheduled_events_bridge_${name}{${[CHOSEN, ...labels].join(', ')}}`;
}

/** Returns the rate of a counter, per second. */
export function rate(name: string): string {
  return `rate(${metric(name)}[$__rate_interval])`;
}

/** Returns the quantile of a histogram, over the same time. */
export function quantile(share: number, name: string, ...by: readonly string[]): string {
  return `histogram_quantile(${share}, sum by (${[...by, 'le'].join(', ')}) (${rate(`${name}_bucket`)}))`;
}
