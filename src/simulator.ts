// `scheduled-events-bridge/simulator`: options → a simulated metadata service, for tests.
import * as v from 'valibot';
import { BridgeError } from './errors.ts';
import { formatFault } from './schema/faults.ts';
import { validate } from './schema/validate.ts';
import { wholeNumberFrom } from './simulator/control/event-fields.ts';
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
export type {
  EventOrder,
  FaultOrder,
  MachineUrl,
  SimulatedAzure,
  UntilOptions,
} from './simulator/test-api/simulated-azure.ts';

/** Every option can be omitted. */
export interface StartOptions {
  /**
   * The number of machines in the group (NAME_0, NAME_1, …), or a list of their names. Default: the scenario's
   * machines, or 1.
   */
  readonly vms?: number | readonly string[];
  /** The prefix of the machines' names. Default: the scenario's, or `sim`. */
  readonly name?: string;
  /** The scenario to play from the start: the name of a shipped one, or the path of a YAML file. Default: none. */
  readonly scenario?: string;
  /** Simulated seconds per second. Default: 0, so the clock stands at the current time until the test advances it. */
  readonly speed?: number;
  /**
   * Simulates the delays and limits of the real service: a first answer after 2 minutes, events after 5 minutes, a new
   * document once a minute, 5 requests per second, and switching off after 24 hours without requests. Default: false.
   */
  readonly strict?: boolean;
  /**
   * Simulates GPU machines in one fault domain: each sees only its own events. Default: the scenario's value, or false.
   */
  readonly gpu?: boolean;
  /**
   * The clock in which NotBefore is listed: `simulated` (default), or `wall`, this machine's clock at the moment the
   * event is scheduled. Use `wall` for clients that measure notice by the real time after the simulated clock was
   * advanced.
   */
  readonly notBefore?: 'simulated' | 'wall';
  /** The api-versions of scheduled events that the host supports. Default: the scenario's, or all eight. */
  readonly apiVersions?: readonly string[];
  /** The status for an unsupported api-version. Default: the scenario's, or 400. */
  readonly unknownApiVersion?: 400 | 404;
  /** Default: `127.0.0.1`. Anyone who can reach the port can control the simulator. */
  readonly host?: string;
  /**
   * Additional names that requests on loopback may have in `Host`, such as `host.docker.internal` for a client in a
   * container.
   */
  readonly allowHosts?: readonly string[];
  /** The port of the first machine; the others use the following ports. Default: 0, a free port for each machine. */
  readonly port?: number;
}

const startOptions = v.strictObject({
  vms: v.exactOptional(
    v.union([wholeNumberFrom(1), v.array(v.string())], 'must be a number of 1 or more, or a list of names'),
  ),
  name: v.exactOptional(v.string()),
  scenario: v.exactOptional(v.string()),
  speed: v.exactOptional(v.number()),
  strict: v.exactOptional(v.boolean()),
  gpu: v.exactOptional(v.boolean()),
  notBefore: v.exactOptional(v.picklist(NOT_BEFORE_CLOCKS, `must be ${NOT_BEFORE_CLOCKS.join(' or ')}`)),
  ...hostEntries,
  host: v.exactOptional(v.string()),
  allowHosts: v.exactOptional(v.array(v.string())),
  port: v.exactOptional(v.pipe(wholeNumberFrom(0), v.maxValue(65_535))),
}) satisfies v.GenericSchema<StartOptions>;

/**
 * Starts the metadata service of a group of machines. It answers over HTTP as soon as the promise resolves, and keeps
 * the process alive until it is closed. Several simulators in one process are independent of each other.
 * @throws BridgeError BRIDGE_USAGE for invalid options or an unknown scenario; BRIDGE_SIMULATOR_SCENARIO with all
 * faults of a scenario file; BRIDGE_SIMULATOR_REFUSED for an invalid speed; BRIDGE_SIMULATOR_LISTEN if an address is
 * not available
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

/** Returns the options without undefined values. @throws BridgeError BRIDGE_USAGE with all faults */
function checked(options: StartOptions): StartOptions {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const { output, faults } = validate(startOptions, given, [], 'options of startSimulator');
  if (output && faults.length === 0) return output;
  throw new BridgeError(
    'BRIDGE_USAGE',
    ['startSimulator cannot use these options:', ...faults.map(formatFault)].join('\n  '),
  );
}
