// The parts of `npm run proof`, in the order in which they run.
import type { Part } from './part.ts';
import { processes } from './processes/processes.ts';
import { simulation } from './simulation/simulation.ts';

export const PARTS: readonly Part[] = [simulation, processes];
