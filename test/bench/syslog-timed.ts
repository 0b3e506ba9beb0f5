// run --config FILE → the bridge; tells what each call of its syslog sinks took (timed.ts).
import { syslog } from '../../adapters/syslog/syslog.ts';
import { runBridge } from './run-bridge.ts';
import { timed } from './timed.ts';

await runBridge([timed(syslog)]);
