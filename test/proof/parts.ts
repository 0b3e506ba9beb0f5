// The parts of `npm run proof`, in the order in which they run.
import { cost } from './cost/cost.ts';
import { defects } from './defects/defects.ts';
import { files } from './files/files.ts';
import { fleet } from './fleet/fleet.ts';
import { group } from './group/group.ts';
import { hostile } from './hostile/hostile.ts';
import type { Part } from './part.ts';
import { processes } from './processes/processes.ts';
import { simulation } from './simulation/simulation.ts';
import { soak } from './soak/soak.ts';

export const PARTS: readonly Part[] = [simulation, files, processes, cost, group, hostile, fleet, soak, defects];
