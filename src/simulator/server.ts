// Addresses, machines and a script → a group in which each machine has its own port.
import type { Logger } from 'pino';
import { BridgeError } from '../errors.ts';
import type { ListenAddress } from '../net/guarded-server.ts';
import { isLoopback } from '../net/private-addresses.ts';
import { pageFiles } from '../page/page-files.ts';
import type { Deps } from '../time/clock.ts';
import { answerProblem, pathAndQuery, type SimAnswer, type SimRequest } from './answer.ts';
import { type MachineOptions, machineNames } from './events/machine.ts';
import { VirtualTimers } from './events/virtual-clock.ts';
import { Group, type SimulatorGroupOptions } from './group.ts';
import { listen, type RequestHandler } from './listener.ts';
import { isMetadataRoute } from './metadata/metadata-routes.ts';
import type { Script } from './script/script.ts';
import { findScenario, shippedScenarios } from './shipped-scenarios.ts';
import { Simulator } from './simulator.ts';

export interface SimulatorServerOptions
  extends MachineOptions,
    Pick<SimulatorGroupOptions, 'speed' | 'strict' | 'gpu' | 'notBefore' | 'apiVersions' | 'unknownApiVersion'> {
  /**
   * The first machine's address; the others use PORT + 1, …, or free ports if the port is 0. A list has each machine's
   * own address.
   */
  readonly listen: ListenAddress | readonly ListenAddress[];
  /**
   * The IP address of each machine's client. All machines then answer at the first one's address: each its own client,
   * and the first one all others. Without `vms`, the number of clients, or of addresses in `listen`, is the number of
   * machines.
   */
  readonly clients?: readonly string[];
  /** Additional addresses of the first machine. */
  readonly also?: readonly ListenAddress[];
  /** Additional names that requests on loopback may have in `Host`. */
  readonly allowHosts?: readonly string[];
  /** The scenario to play from the start: the name of a shipped one, or the path of a file. Default: none. */
  readonly scenario?: string;
  /** The script to play from the start, instead of `scenario`. */
  readonly script?: Script;
  /** Called with each answer of the metadata routes before it is sent. @param atMs simulated */
  readonly onAnswer?: (request: SimRequest, answer: SimAnswer, atMs: number, vm: string) => void;
  readonly deps: Pick<Deps, 'wallMs' | 'elapsedMs' | 'random' | 'after'>;
  readonly logger?: Logger;
}

export interface SimulatorServer extends AsyncDisposable {
  /** The first machine's `http://HOST:PORT`, for `metadata.endpoint`. */
  readonly url: string;
  /** All machines, in their order. */
  readonly urls: readonly { readonly vm: string; readonly url: string }[];
  readonly group: Group;
}

/**
 * Starts the group and listens for each machine.
 * @throws BridgeError BRIDGE_USAGE for an unknown scenario, for machines without a unique name, or for fewer ports,
 * addresses or clients than machines; BRIDGE_SIMULATOR_SCENARIO for an invalid file; BRIDGE_SIMULATOR_LISTEN if an
 * address is not available
 */
export async function startSimulator(options: SimulatorServerOptions): Promise<SimulatorServer> {
  const { deps, allowHosts = [] } = options;
  const group = await createGroup(options);
  const parts = { deps, timers: new VirtualTimers(group.clock, deps), allowHosts, dateMs: () => group.clock.nowMs() };
  await using open = new AsyncDisposableStack();
  const listenAt = async (address: ListenAddress, simulatorFor: (client: string) => Simulator): Promise<string> => {
    const { url } = open.use(await listen(address, requestHandler(simulatorFor, options), parts));
    if (!isLoopback(address.host))
      options.logger?.warn(
        { url },
        'the simulator listens beyond loopback: anyone who can reach this port can control it',
      );
    return url;
  };
  const simulators = group.machines.map((machine) => new Simulator(group, machine));
  const first = simulatorByClient(simulators, options);
  for (const [index, simulator] of simulators.entries()) {
    const isShared = options.clients !== undefined && index > 0;
    const url = isShared ? group.urls.get(group.first.name) : null;
    group.urls.set(
      simulator.vmName,
      url ?? (await listenAt(addressOf(index, options), index === 0 ? first : () => simulator)),
    );
  }
  for (const address of options.also ?? []) await listenAt(address, first);
  const [url = ''] = group.urls.values();
  const moved = open.move();
  return {
    url,
    urls: [...group.urls].map(([vm, url]) => ({ vm, url })),
    group,
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

/** Creates the group and starts its script. */
async function createGroup(options: SimulatorServerOptions): Promise<Group> {
  const { deps, scenario, speed = 1, strict = false, notBefore = 'simulated' } = options;
  const script = options.script ?? (scenario === undefined ? undefined : await findScenario(scenario));
  const scenarios = withUserScript(await shippedScenarios(), script);
  const { gpu = script?.group?.gpu ?? false, apiVersions = script?.group?.apiVersions } = options;
  const { unknownApiVersion = script?.group?.unknownApiVersion } = options;
  const host = { ...(apiVersions && { apiVersions }), ...(unknownApiVersion && { unknownApiVersion }) };
  const vms = machineNames(
    { ...options, ...(options.vms === undefined ? machinesByAddress(options) : {}) },
    script?.group,
  );
  const group = new Group({ deps, vms, speed, strict, gpu, notBefore, scenarios, ...host });
  checkAddresses(options, vms.length);
  if (script) group.play(script);
  return group;
}

/** Adds the user's script at the end; it replaces a shipped one of the same name. */
function withUserScript(shipped: readonly Script[], script: Script | undefined): readonly Script[] {
  return script === undefined || shipped.includes(script)
    ? shipped
    : [...shipped.filter(({ name }) => name !== script.name), script];
}

/** The number of machines that several addresses or clients imply. */
function machinesByAddress({ listen, clients = [] }: SimulatorServerOptions): MachineOptions {
  const count = Math.max(clients.length, [listen].flat().length);
  return clients.length > 0 || count > 1 ? { vms: count } : {};
}

/** Checks that each machine has its own address, port or client. */
function checkAddresses({ listen, clients }: SimulatorServerOptions, count: number): void {
  const addresses = [listen].flat();
  const [first] = addresses;
  if (clients === undefined && addresses.length === 1 && first) {
    checkPorts(first, count);
    return;
  }
  const given = clients ?? addresses;
  if (clients !== undefined && addresses.length > 1)
    throw new BridgeError(
      'BRIDGE_USAGE',
      '--client and several --listen do not go together: give each machine its own client, or its own address',
    );
  if (given.length !== count)
    throw new BridgeError(
      'BRIDGE_USAGE',
      `the number of addresses, ${given.length}, is not the number of machines, ${count}: give one address for each machine`,
    );
  if (new Set(clients).size < (clients ?? []).length)
    throw new BridgeError(
      'BRIDGE_USAGE',
      'each machine needs its own client: the addresses given with --client must differ',
    );
}

function checkPorts({ port }: ListenAddress, count: number): void {
  const last = port + count - 1;
  if (port === 0 || last <= 65_535) return;
  throw new BridgeError(
    'BRIDGE_USAGE',
    `${count} machines starting at port ${port} would need ports up to ${last}: choose port ${65_536 - count} or lower`,
  );
}

/** The address of a machine. @param index of the machine in its group */
function addressOf(index: number, { listen }: SimulatorServerOptions): ListenAddress {
  const addresses = [listen].flat();
  const { host, port } = addresses[0] as ListenAddress;
  return addresses.length > 1 ? (addresses[index] as ListenAddress) : { host, port: port === 0 ? 0 : port + index };
}

/** Returns the function that finds the simulator for a client at the first machine's address. */
function simulatorByClient(
  [first, ...others]: readonly Simulator[],
  { clients = [] }: SimulatorServerOptions,
): (client: string) => Simulator {
  const byClient = new Map(others.map((simulator, index) => [clients[index + 1], simulator]));
  return (client) => byClient.get(client) ?? (first as Simulator);
}

function requestHandler(
  simulatorFor: (client: string) => Simulator,
  { onAnswer }: SimulatorServerOptions,
): RequestHandler {
  return (request, client) => {
    const simulator = simulatorFor(client.address);
    const [path] = pathAndQuery(request.url);
    const page = answerPage(request.method, path);
    if (page !== null) return page;
    const answer = simulator.handle(request, client);
    if (onAnswer && isMetadataRoute(request.url))
      onAnswer(request, answer, simulator.group.clock.nowMs(), simulator.vmName);
    return answer;
  };
}

/** The same relative path holds in the source tree and in the bundle, whose chunks are in one folder. */
const FOLDER = new URL('./page/', import.meta.url);

const FILES = pageFiles(FOLDER, [
  'index.html',
  'page.css',
  'page.js',
  'forms.js',
  'lists.js',
  'time-line.js',
  'text.js',
  'icon.svg',
]);

/**
 * Returns the page or one of its files, or null for any other path.
 * @throws a file system error, if the installation is incomplete
 */
function answerPage(method: string, path: string): SimAnswer | Promise<SimAnswer> | null {
  const read = path.startsWith('/') ? FILES.get(path.slice(1)) : undefined;
  if (read === undefined) return null;
  if (method !== 'GET' && method !== 'HEAD')
    return answerProblem({ status: 405, detail: `${path} accepts GET.` }, { allow: 'GET, HEAD' });
  return read();
}
