// run --config FILE → the bridge; what each call of its file sinks took is told on standard error (timed.ts).
import { file } from '../../adapters/file/file.ts';
import { runBridge } from './run-bridge.ts';
import { timed } from './timed.ts';

await runBridge([timed(file)]);
