// run --config FILE → the bridge, whose service-bus sinks tell each call on standard error.
import { serviceBusSink } from '../../adapters/service-bus/service-bus.ts';
import { runBridge } from './run-bridge.ts';
import { timed } from './timed.ts';

await runBridge([timed(serviceBusSink)]);
