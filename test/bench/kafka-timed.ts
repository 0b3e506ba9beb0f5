// run --config FILE → the bridge; what each call of its Kafka sinks took is told on standard error, as `deliveries COUNT from MS to MS`,
// by the clock that the processes of a machine share (clock.ts).
import type { Adapter, AdapterDefinition } from '../../adapters/adapter.ts';
import { kafka } from '../../adapters/kafka/kafka.ts';
import type { KafkaOptions } from '../../adapters/kafka/kafka-options.ts';
import { sharedMs } from './clock.ts';
import { runBridge } from './run-bridge.ts';

const told: AdapterDefinition<KafkaOptions> = { ...kafka, create: (options, deps) => timed(kafka.create(options, deps)) };
await runBridge([told]);

function timed(adapter: Adapter): Adapter {
  return {
    limits: adapter.limits,
    check: (signal) => adapter.check(signal),
    deliver: async (batch, signal) => {
      const fromMs = sharedMs();
      const outcomes = await adapter.deliver(batch, signal);
      const accepted = outcomes.filter((outcome) => outcome === 'accepted');
      process.stderr.write(`deliveries ${accepted.length} from ${fromMs} to ${sharedMs()}\n`);
      return outcomes;
    },
    [Symbol.asyncDispose]: () => adapter[Symbol.asyncDispose](),
  };
}
