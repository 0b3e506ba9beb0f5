// run --config FILE → the bridge; what each call of its service-bus sinks took is told on standard error (timed.ts).
import { serviceBus } from '../../adapters/service-bus/service-bus.ts';
import { runBridge } from './run-bridge.ts';
import { timed } from './timed.ts';

await runBridge([timed(serviceBus)]);
