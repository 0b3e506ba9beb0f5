// run --config FILE → the bridge; what each call of its sinks took is told on standard error.
import { ADAPTERS } from '../../adapters/index.ts';
import { runBridge } from './run-bridge.ts';
import { timed } from './timed.ts';

await runBridge(ADAPTERS.map(timed));
