// The list of all faults, each of which is played alone and with each other one.
import type { Fault } from './fault.ts';
import { DISK_FAULTS } from './faults/disk-faults.ts';
import { MACHINE_FAULTS } from './faults/machine-faults.ts';
import { METADATA_FAULTS } from './faults/metadata-faults.ts';
import { OLDER_BUILD } from './faults/older-build.ts';
import { PROCESS_FAULTS } from './faults/process-faults.ts';
import { SINK_FAULTS } from './faults/sink-faults.ts';

export const FAULTS: readonly Fault[] = [
  ...PROCESS_FAULTS,
  OLDER_BUILD,
  ...SINK_FAULTS,
  ...METADATA_FAULTS,
  ...DISK_FAULTS,
  ...MACHINE_FAULTS,
];

/** Each with each other one, once. */
export function pairsOf(faults: readonly Fault[]): readonly (readonly [Fault, Fault])[] {
  return faults.flatMap((one, index) => faults.slice(index + 1).map((other) => [one, other] as const));
}

/** @throws Error for a name that is not on the list */
export function faultNamed(name: string): Fault {
  const found = FAULTS.find((fault) => fault.name === name);
  if (found === undefined)
    throw new Error(`There is no fault ${name}. The faults are ${FAULTS.map((each) => each.name).join(', ')}.`);
  return found;
}
