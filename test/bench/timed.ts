// A kind of sink → the same, whose sinks tell on standard error what each call took.
// A line reads `deliveries COUNT from MS to MS first turn MS`, by the clock that the processes of a machine share
// (clock.ts).
import type { Adapter, AdapterDefinition } from '../../adapters/adapter.ts';
import { sharedMs } from './clock.ts';

export function timed<Options>(definition: AdapterDefinition<Options>): AdapterDefinition<Options> {
  return { ...definition, create: (options, deps) => telling(definition.create(options, deps)) };
}

/** One line for each call. */
export function tell(count: number, fromMs: number, firstTurnMs = 0): void {
  process.stderr.write(`deliveries ${count} from ${fromMs} to ${sharedMs()} first turn ${firstTurnMs}\n`);
}

function telling(adapter: Adapter): Adapter {
  return {
    limits: adapter.limits,
    check: (signal) => adapter.check(signal),
    deliver: async (batch, signal) => {
      const fromMs = sharedMs();
      const delivered = adapter.deliver(batch, signal);
      const firstTurnMs = sharedMs() - fromMs;
      const outcomes = await delivered;
      tell(outcomes.filter((outcome) => outcome === 'accepted').length, fromMs, firstTurnMs);
      return outcomes;
    },
    close: () => adapter.close(),
  };
}
