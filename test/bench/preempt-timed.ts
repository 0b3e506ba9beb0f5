// run --config FILE → the bridge; standard error tells when each Preempt was accepted, and by whom.
// A line reads `preempt EVENTID at MS`, by the clock that the processes of a machine share (clock.ts). Deliveries of a
// Freeze never end.
import type { Adapter, AdapterDefinition, Outcome } from '../../adapters/adapter.ts';
import { ADAPTERS } from '../../adapters/index.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import { sharedMs } from './clock.ts';
import { runBridge } from './run-bridge.ts';

await runBridge(ADAPTERS.map(told));

function told<Options>(definition: AdapterDefinition<Options>): AdapterDefinition<Options> {
  return { ...definition, create: (options, deps) => telling(definition.create(options, deps)) };
}

function telling(adapter: Adapter): Adapter {
  const { preparation, start } = adapter;
  return {
    get limits() {
      return adapter.limits;
    },
    ...(preparation && { preparation }),
    ...(start && { start: () => start.call(adapter) }),
    check: (signal) => adapter.check(signal),
    deliver: async (batch, signal, superseded) => {
      if (batch.some((row) => isOf('Freeze', row))) return await hang(signal);
      const outcomes = await adapter.deliver(batch, signal, superseded);
      batch.forEach((row, place) => {
        if (row.change === 'scheduled' && isOf('Preempt', row) && !(outcomes[place] instanceof Error)) tell(row);
      });
      return outcomes;
    },
    close: () => adapter.close(),
  };
}

function isOf(type: string, { bytes }: Delivery): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(`"eventType":"${type}"`);
}

function tell({ partitionKey }: Delivery): void {
  process.stderr.write(`preempt ${partitionKey} at ${sharedMs()}\n`);
}

function hang(signal: AbortSignal): Promise<readonly Outcome[]> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}
