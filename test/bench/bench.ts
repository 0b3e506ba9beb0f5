// Names of measurements, or none for all → the figures that docs/develop/performance.md explains.
import { approvals } from './approvals.ts';
import { burst } from './burst.ts';
import { command } from './command.ts';
import { type Row, table } from './figures.ts';
import { idle } from './idle.ts';
import { kafka } from './kafka.ts';
import { latency } from './latency.ts';
import { packageForms } from './package.ts';
import { preempt } from './preempt.ts';
import { recovery } from './recovery.ts';
import { serviceBus } from './service-bus.ts';
import { siem } from './siem.ts';
import { simulator } from './simulator.ts';
import { start } from './start.ts';
import { stream } from './stream.ts';
import { top } from './top.ts';
import { unchanged } from './unchanged.ts';
import { webhook } from './webhook.ts';

const MEASUREMENTS: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  latency,
  idle,
  start,
  burst,
  recovery,
  unchanged,
  webhook,
  kafka,
  'service-bus': serviceBus,
  siem,
  command,
  preempt,
  approvals,
  simulator,
  stream,
  top,
  package: packageForms,
};

const chosen = process.argv.slice(2);
const unknown = chosen.find((name) => !Object.hasOwn(MEASUREMENTS, name));
if (unknown !== undefined)
  throw new Error(`there is no measurement "${unknown}": ${Object.keys(MEASUREMENTS).join(', ')}`);

const rows: Row[] = [];
for (const [name, measure] of Object.entries(MEASUREMENTS)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  rows.push(...(await measure()));
}
process.stdout.write(`${table(rows)}\n`);
