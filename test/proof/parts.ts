// The parts of `npm run proof`, in the order in which they run.
import type { Part } from './part.ts';
import { simulation } from './simulation/simulation.ts';
import { soak } from './soak/soak.ts';

export const PARTS: readonly Part[] = [simulation, soak];
