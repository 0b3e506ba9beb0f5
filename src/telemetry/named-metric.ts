// A registry → the common options of each metric: prefixed name, help, labels.
import type Registry from 'prom-client/lib/registry.js';

const PREFIX = 'scheduled_events_bridge_';

export type NamedMetric = ReturnType<typeof namedIn>;

/** Returns a function for the options of metrics that are registered in `registry`. */
export function namedIn(registry: Registry) {
  return <L extends string>(name: string, help: string, labelNames: L[]) => ({
    name: PREFIX + name,
    help,
    labelNames,
    registers: [registry],
  });
}
