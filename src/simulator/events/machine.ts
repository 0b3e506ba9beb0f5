// Names → the machines of a group, spread over fault domains.
import { BridgeError } from '../../errors.ts';
import type { ScriptGroup } from '../script/script.ts';

export interface Machine {
  readonly name: string;
  readonly faultDomain: number;
}

/** The most machines of one group, far above the 100 of a placement group. */
export const MOST_MACHINES = 1000;

/** The number that most regions have for a scale set. */
const FAULT_DOMAINS = 5;

/** Creates the machines of a group. @param gpu puts all in one fault domain (protocol 2.3) */
export function machinesOf(names: readonly string[], gpu: boolean): readonly Machine[] {
  return names.map((name, index) => ({ name, faultDomain: gpu ? 0 : index % FAULT_DOMAINS }));
}

/** A user's options for a group's machines; the script supplies those that are missing. */
export interface MachineOptions {
  /** The number of machines (NAME_0, NAME_1, …), or their names. Default: 1. */
  readonly vms?: number | readonly string[];
  /** The prefix of the machines' names. Default: `sim`. */
  readonly name?: string;
}

/**
 * Returns the names of a group's machines. The user's options come before the script's.
 * @throws BridgeError BRIDGE_USAGE for missing, empty or equal names
 */
export function machineNames({ vms, name }: MachineOptions, script: ScriptGroup = {}): readonly string[] {
  const requested = vms ?? script.vms ?? 1;
  const names = typeof requested === 'number' ? numbered(name ?? script.name ?? 'sim', requested) : requested;
  const distinct = new Set(names.map((one) => one.toLowerCase()));
  if (names.length === 0 || names.includes('') || distinct.size < names.length) {
    throw new BridgeError(
      'BRIDGE_USAGE',
      'a group needs at least one machine, and each machine needs a unique name that is not empty (letter case is ignored)',
    );
  }
  return names;
}

function numbered(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}_${index}`);
}
