// run --config FILE → the bridge; what each call of its file sinks took, told on standard error.
import { file } from '../../adapters/file/file.ts';
import { runBridge } from './run-bridge.ts';
import { timed } from './timed.ts';

await runBridge([timed(file)]);
