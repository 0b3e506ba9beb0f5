// The parts of `npm run proof`, in the order in which they run.
import { fleet } from './fleet/fleet.ts';
import type { Part } from './part.ts';
import { simulation } from './simulation/simulation.ts';

export const PARTS: readonly Part[] = [simulation, fleet];
