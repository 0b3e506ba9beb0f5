// A folder → a bridge with its store in it, five maintenances; prints what others see.
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Simulation } from '../../../virtual/simulation.ts';
import { VirtualBridge } from '../../../virtual/virtual-bridge.ts';
import { BEGIN_MS, END_MS, playMaintenances, RESTART_MS } from '../maintenances.ts';

const [folder = ''] = process.argv.slice(2);
const hooks: (() => unknown)[] = [];
const context = { after: (hook: () => unknown) => void hooks.push(hook) } as unknown as TestContext;
const simulation = new Simulation({ startMs: BEGIN_MS });
const bridge = new VirtualBridge(context, {}, { machine: { simulation, clocks: simulation.time } });
bridge.folder = join(folder, 'var/lib/store');
bridge.synchronous = 'FULL';
playMaintenances(bridge, (words) => writeSync(1, `${words}\n`));
await bridge.startFor(RESTART_MS - BEGIN_MS);
await bridge.stop();
await bridge.startFor(END_MS - simulation.time.wallMs());
await bridge.stop();
for (const hook of hooks) await hook();
