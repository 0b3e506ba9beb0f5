// A number of machines → a simulated group in virtual time, asked without sockets.
import { Group, type SimulatorGroupOptions } from '../../src/simulator/group.ts';
import type { Script, ScriptStep } from '../../src/simulator/script/script.ts';
import { Simulator } from '../../src/simulator/simulator.ts';
import { SimulatedMachine } from './simulation.ts';
import { VirtualTime } from './virtual-time.ts';

export interface SimulatedGroup {
  readonly time: VirtualTime;
  readonly group: Group;
  readonly machines: readonly SimulatedMachine[];
  readonly first: SimulatedMachine;
}

/** @param options `sim_0` alone by default; the clock stands still but for `time.advance` and control requests */
export function simulatedGroup(
  options: Omit<SimulatorGroupOptions, 'deps'> & { readonly startMs?: number } = {},
): SimulatedGroup {
  const { startMs, ...rest } = options;
  const time = new VirtualTime(startMs === undefined ? {} : { startMs });
  const group = new Group({ deps: time, ...rest });
  const machines = group.machines.map((machine) => new SimulatedMachine(new Simulator(group, machine)));
  return { time, group, machines, first: machines[0] as SimulatedMachine };
}

/** A scenario that is called `test`. */
export function scriptOf(...steps: readonly ScriptStep[]): Script {
  return { name: 'test', purpose: 'what a test needs', steps };
}
