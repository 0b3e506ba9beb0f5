// All faults of a configuration → the one error that ends a start.
import { BridgeError } from '../errors.ts';
import { type Fault, formatFault } from '../schema/faults.ts';

/** BRIDGE_CONFIG_INVALID, with a line for each fault. */
export function configError(faults: readonly Fault[]): BridgeError {
  const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`;
  return new BridgeError('BRIDGE_CONFIG_INVALID', [`the configuration has ${count}:`, ...faults.map(formatFault)].join('\n  '));
}
