// The parts of `npm run proof`, in the order in which they run.
import { defects } from './defects/defects.ts';
import type { Part } from './part.ts';
import { simulation } from './simulation/simulation.ts';

export const PARTS: readonly Part[] = [simulation, defects];
