// `scheduled-events-bridge/simulator`: machines to play → a listening simulated service, for tests.
import * as v from 'valibot';
import { BridgeError } from './errors.ts';
import { formatFault } from './schema/faults.ts';
import { validate } from './schema/validate.ts';
import { wholeNumber } from './simulator/control/event-fields.ts';
import { NOT_BEFORE_CLOCKS } from './simulator/events/event.ts';
import { hostEntries } from './simulator/metadata/metadata-versions.ts';
import { startSimulator as startServer } from './simulator/server.ts';
import { AzureControl } from './simulator/test-api/azure-control.ts';
import type { SimulatedAzure } from './simulator/test-api/simulated-azure.ts';
import { systemDeps } from './time/system.ts';

export { BridgeError, type ErrorCode } from './errors.ts';
export type { GroupState, ListedEvent, PastEvent } from './simulator/control/group-state.ts';
export type { WireEvent } from './simulator/events/event.ts';
export type { JournalledRequest } from './simulator/journal.ts';
export type { EventOrder, FaultOrder, MachineUrl, SimulatedAzure, UntilOptions } from './simulator/test-api/simulated-azure.ts';

/** All may be left out. */
export interface StartOptions {
  /** How many machines of one group, called NAME_0, NAME_1, …, or their names; where absent what the scenario is written for, or 1. */
  readonly vms?: number | readonly string[];
  /** What stands before the machines' numbers; where absent what the scenario says, or `sim`. */
  readonly name?: string;
  /** Played from the start: the name of one that comes with the simulator, or the path of a YAML file. Empty where absent. */
  readonly scenario?: string;
  /** Simulated seconds a second; 0 where absent: the clock stands at the present time until the test moves it. */
  readonly speed?: number;
  /** A slow first answer, events after five minutes, a new document once a minute, switched off after a day of silence, 5 requests a second; false where absent. */
  readonly strict?: boolean;
  /** GPU machines in one fault domain, each of which sees its own events alone; where absent what the scenario says, or false. */
  readonly gpu?: boolean;
  /**
   * By which clock NotBefore is listed: `simulated` where absent; or `wall`, this machine's own as it is when an event is scheduled, for clients that
   * measure notice by it after the simulated clock was put forward.
   */
  readonly notBefore?: 'simulated' | 'wall';
  /** The api-versions of scheduled events that the host knows; where absent what the scenario says, or all eight. */
  readonly apiVersions?: readonly string[];
  /** The status for an api-version that it does not know; where absent what the scenario says, or 400. */
  readonly unknownApiVersion?: 400 | 404;
  /** `127.0.0.1` where absent. Whoever reaches the port can steer the simulator. */
  readonly host?: string;
  /** Names besides its own by which it may be asked on loopback, such as `host.docker.internal` by a client in a container. */
  readonly allowHosts?: readonly string[];
  /** Of the first machine, the others take those that follow; 0, a free one for each, where absent. */
  readonly port?: number;
}

const startOptions = v.strictObject({
  vms: v.exactOptional(v.union([wholeNumber(1), v.array(v.string())], 'must be a number of 1 or more, or a list of names')),
  name: v.exactOptional(v.string()),
  scenario: v.exactOptional(v.string()),
  speed: v.exactOptional(v.number()),
  strict: v.exactOptional(v.boolean()),
  gpu: v.exactOptional(v.boolean()),
  notBefore: v.exactOptional(v.picklist(NOT_BEFORE_CLOCKS, `must be ${NOT_BEFORE_CLOCKS.join(' or ')}`)),
  ...hostEntries,
  host: v.exactOptional(v.string()),
  allowHosts: v.exactOptional(v.array(v.string())),
  port: v.exactOptional(v.pipe(wholeNumber(0), v.maxValue(65_535))),
}) satisfies v.GenericSchema<StartOptions>;

/**
 * Starts the metadata service of a group of machines, which answers over HTTP when this resolves. Several in one process know nothing of each
 * other. It keeps the process alive until it is closed.
 * @throws BridgeError BRIDGE_USAGE for unusable options and an unknown scenario, BRIDGE_SIMULATOR_SCENARIO with all faults of a scenario file,
 * BRIDGE_SIMULATOR_REFUSED for an impossible speed, BRIDGE_SIMULATOR_LISTEN where an address cannot be had
 */
export async function startSimulator(options: StartOptions = {}): Promise<SimulatedAzure> {
  const { host = '127.0.0.1', port = 0, speed = 0, ...group } = checked(options);
  const deps = systemDeps();
  const azure = new AzureControl(await startServer({ ...group, speed: 0, listen: { host, port }, deps }), deps);
  try {
    azure.setSpeed(speed);
  } catch (error) {
    await azure.close();
    throw error;
  }
  return azure;
}

/** As given, without what was given as undefined. */
function checked(options: StartOptions): StartOptions {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const { output, faults } = validate(startOptions, given, [], 'options of startSimulator');
  if (output && faults.length === 0) return output;
  throw new BridgeError('BRIDGE_USAGE', ['startSimulator cannot use these options:', ...faults.map(formatFault)].join('\n  '));
}
