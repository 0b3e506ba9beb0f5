// run --config FILE → the bridge; what each call of its kafka sinks took is told on standard error (timed.ts).
import { kafka } from '../../adapters/kafka/kafka.ts';
import { runBridge } from './run-bridge.ts';
import { timed } from './timed.ts';

await runBridge([timed(kafka)]);
