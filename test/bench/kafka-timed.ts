// run --config FILE → the bridge, whose kafka sinks tell each call on standard error (timed.ts).
import { kafkaSink } from '../../adapters/kafka/kafka.ts';
import { runBridge } from './run-bridge.ts';
import { timed } from './timed.ts';

await runBridge([timed(kafkaSink)]);
