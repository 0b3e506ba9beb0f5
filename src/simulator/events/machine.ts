// Names → the machines of a group, spread over fault domains.
import { BridgeError } from '../../errors.ts';
import type { ScriptGroup } from '../script/script.ts';

export interface Machine {
  readonly name: string;
  readonly faultDomain: number;
}

/** Of one group: far above any scale set's placement group (100). */
export const MOST_MACHINES = 1000;

/** As most regions have for a scale set. */
const FAULT_DOMAINS = 5;

/** @param gpu all in one fault domain (protocol 2.3) */
export function machinesOf(names: readonly string[], gpu: boolean): readonly Machine[] {
  return names.map((name, index) => ({ name, faultDomain: gpu ? 0 : index % FAULT_DOMAINS }));
}

/** What is said of a group's machines; what is not said, its script may say. */
export interface MachineOptions {
  /** How many, called NAME_0, NAME_1, …, or their names; one where nothing is said. */
  readonly vms?: number | readonly string[];
  /** What stands before their numbers; `sim` where nothing is said. */
  readonly name?: string;
}

/** A script's own wishes count where neither names nor a number are given. @throws BridgeError BRIDGE_USAGE for names that cannot be */
export function machineNames({ vms, name }: MachineOptions, script: ScriptGroup = {}): readonly string[] {
  const wanted = vms ?? script.vms ?? 1;
  const names = typeof wanted === 'number' ? numbered(name ?? script.name ?? 'sim', wanted) : wanted;
  const distinct = new Set(names.map((one) => one.toLowerCase()));
  if (names.length === 0 || names.includes('') || distinct.size < names.length) {
    throw new BridgeError(
      'BRIDGE_USAGE',
      'the machines of a group are at least one, and each has a name of its own (compared without case)',
    );
  }
  return names;
}

function numbered(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}_${index}`);
}
