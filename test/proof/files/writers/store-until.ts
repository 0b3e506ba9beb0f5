// A folder and seconds → a bridge with its store in it that is killed then; prints what others see.
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Simulation } from '../../../virtual/simulation.ts';
import { SECOND, VirtualBridge } from '../../../virtual/virtual-bridge.ts';
import { BEGIN_MS, playMaintenances } from '../maintenances.ts';
import { STORE } from '../store-judge.ts';

const [folder = '', seconds = '0'] = process.argv.slice(2);
const simulation = new Simulation({ startMs: BEGIN_MS });
const context = { after: () => {} } as unknown as TestContext;
const bridge = new VirtualBridge(context, {}, { machine: { simulation, clocks: simulation.time } });
bridge.folder = join(folder, STORE);
bridge.synchronous = 'FULL';
playMaintenances(bridge, (words) => writeSync(1, `${words}\n`));
await bridge.startFor(Number(seconds) * SECOND);
process.kill(process.pid, 'SIGKILL');
