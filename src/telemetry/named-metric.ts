// A registry → what each of its metrics is made with: the prefix before its name, its help and its labels.
import type Registry from 'prom-client/lib/registry.js';

const PREFIX = 'scheduled_events_bridge_';

export type NamedMetric = ReturnType<typeof namedIn>;

/** Of metrics that are registered in `registry`. */
export function namedIn(registry: Registry) {
  return <L extends string>(name: string, help: string, labelNames: L[]) => ({
    name: PREFIX + name,
    help,
    labelNames,
    registers: [registry],
  });
}
