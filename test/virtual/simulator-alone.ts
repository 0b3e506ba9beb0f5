// Options → the metadata service of a group with a single machine, without sockets.
import { Group, type SimulatorGroupOptions } from '../../src/simulator/group.ts';
import { Simulator } from '../../src/simulator/simulator.ts';

export function simulatorAlone({
  vmName = 'sim_0',
  ...options
}: Omit<SimulatorGroupOptions, 'vms'> & { readonly vmName?: string }): Simulator {
  const group = new Group({ ...options, vms: [vmName] });
  return new Simulator(group, group.first);
}
