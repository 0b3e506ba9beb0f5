// Addresses, machines and a script → a group in which each machine has its own port.
import type { Logger } from 'pino';
import { BridgeError } from '../errors.ts';
import { isLoopback } from '../net/private-addresses.ts';
import type { Deps } from '../time/clock.ts';
import { pathAndQuery, type SimAnswer, type SimRequest } from './answer.ts';
import { type MachineOptions, machineNames } from './events/machine.ts';
import { Group, type SimulatorGroupOptions } from './group.ts';
import { type Address, listen, type RequestHandler } from './listener.ts';
import { isMetadataRoute } from './metadata/metadata-routes.ts';
import { answerPage, isPagePath } from './page-files.ts';
import type { Script } from './script/script.ts';
import { findScenario, shippedScenarios } from './shipped-scenarios.ts';
import { Simulator } from './simulator.ts';
import { VirtualTimers } from './virtual-timers.ts';

export interface SimulatorServerOptions
  extends MachineOptions,
    Pick<SimulatorGroupOptions, 'speed' | 'strict' | 'gpu' | 'notBefore' | 'apiVersions' | 'unknownApiVersion'> {
  /** The first machine's; the others follow on PORT + 1, …, or on free ones where the port is 0. Of a list, each machine's own. */
  readonly listen: Address | readonly Address[];
  /**
   * Where each machine's client asks from, IP addresses: all machines answer at the first one's address, each to its client, and the first one
   * to everybody else. Where neither machines nor a number are given, there are as many as clients, or as addresses in `listen`.
   */
  readonly clients?: readonly string[];
  /** Where the first machine answers besides. */
  readonly also?: readonly Address[];
  /** Names besides its own by which it may be asked on loopback. */
  readonly allowHosts?: readonly string[];
  /** Played from the start: a shipped scenario's name, or a file's path. Empty without it and `script`. */
  readonly scenario?: string;
  readonly script?: Script;
  /** Told of each answer of the metadata routes before it is sent. @param atMs simulated */
  readonly onAnswer?: (request: SimRequest, answer: SimAnswer, atMs: number, vm: string) => void;
  readonly deps: Pick<Deps, 'wallMs' | 'elapsedMs' | 'random' | 'after'>;
  readonly logger?: Logger;
}

export interface SimulatorServer extends AsyncDisposable {
  /** The first machine's `http://HOST:PORT`, to be used as `metadata.endpoint`. */
  readonly url: string;
  /** All, in their order. */
  readonly urls: readonly { readonly vm: string; readonly url: string }[];
  readonly group: Group;
}

/**
 * Listens.
 * @throws BridgeError BRIDGE_USAGE for an unknown scenario, for machines without a name of their own or more of them than ports, addresses or clients;
 * BRIDGE_SIMULATOR_SCENARIO for a faulty file; BRIDGE_SIMULATOR_LISTEN where an address cannot be had
 */
export async function startSimulator(options: SimulatorServerOptions): Promise<SimulatorServer> {
  const { deps, allowHosts = [] } = options;
  const group = await createGroup(options);
  const parts = { deps, timers: new VirtualTimers(group.clock, deps), allowHosts, dateMs: () => group.clock.nowMs() };
  await using open = new AsyncDisposableStack();
  const listenAt = async (address: Address, simulatorFor: (client: string) => Simulator): Promise<string> => {
    const { url } = open.use(await listen(address, requestHandler(simulatorFor, options), parts));
    if (!isLoopback(address.host))
      options.logger?.warn({ url }, 'the simulator listens beyond loopback: whoever reaches this port can steer it');
    return url;
  };
  const simulators = group.machines.map((machine) => new Simulator(group, machine));
  const first = simulatorByClient(simulators, options);
  for (const [index, simulator] of simulators.entries()) {
    const isShared = options.clients !== undefined && index > 0;
    const url = isShared ? group.urls.get(group.first.name) : null;
    group.urls.set(simulator.vmName, url ?? (await listenAt(addressOf(index, options), index === 0 ? first : () => simulator)));
  }
  for (const address of options.also ?? []) await listenAt(address, first);
  const [url = ''] = group.urls.values();
  const moved = open.move();
  return { url, urls: [...group.urls].map(([vm, url]) => ({ vm, url })), group, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

/** On which its script has begun. */
async function createGroup(options: SimulatorServerOptions): Promise<Group> {
  const { deps, scenario, speed = 1, strict = false, notBefore = 'simulated' } = options;
  const script = options.script ?? (scenario === undefined ? undefined : await findScenario(scenario));
  const scenarios = withUserScript(await shippedScenarios(), script);
  const { gpu = script?.group?.gpu ?? false, apiVersions = script?.group?.apiVersions } = options;
  const { unknownApiVersion = script?.group?.unknownApiVersion } = options;
  const host = { ...(apiVersions && { apiVersions }), ...(unknownApiVersion && { unknownApiVersion }) };
  const vms = machineNames({ ...options, ...(options.vms === undefined ? machinesByAddress(options) : {}) }, script?.group);
  const group = new Group({ deps, vms, speed, strict, gpu, notBefore, scenarios, ...host });
  checkAddresses(options, vms.length);
  if (script) group.play(script);
  return group;
}

/** The user's own comes last, and in the place of one of its name. */
function withUserScript(shipped: readonly Script[], script: Script | undefined): readonly Script[] {
  return script === undefined || shipped.includes(script) ? shipped : [...shipped.filter(({ name }) => name !== script.name), script];
}

/** As many machines as there are addresses for them, where several were given. */
function machinesByAddress({ listen, clients = [] }: SimulatorServerOptions): MachineOptions {
  const count = Math.max(clients.length, [listen].flat().length);
  return clients.length > 0 || count > 1 ? { vms: count } : {};
}

/** Each machine needs a place of its own, or a client. */
function checkAddresses({ listen, clients }: SimulatorServerOptions, count: number): void {
  const addresses = [listen].flat();
  const [first] = addresses;
  if (clients === undefined && addresses.length === 1 && first) {
    checkPorts(first, count);
    return;
  }
  const given = clients ?? addresses;
  if (clients !== undefined && addresses.length > 1)
    throw new BridgeError('BRIDGE_USAGE', 'machines are told apart by their clients or by where they listen, not by both');
  if (given.length !== count)
    throw new BridgeError('BRIDGE_USAGE', `${count} machines and ${given.length} addresses: give one for each machine`);
  if (new Set(clients).size < (clients ?? []).length) throw new BridgeError('BRIDGE_USAGE', 'each machine needs a client of its own');
}

function checkPorts({ port }: Address, count: number): void {
  const last = port + count - 1;
  if (port === 0 || last <= 65_535) return;
  throw new BridgeError(
    'BRIDGE_USAGE',
    `${count} machines from port ${port} on would need ports up to ${last}: choose ${65_536 - count} or lower`,
  );
}

/** Of machine N of the group. */
function addressOf(index: number, { listen }: SimulatorServerOptions): Address {
  const addresses = [listen].flat();
  const { host, port } = addresses[0] as Address;
  return addresses.length > 1 ? (addresses[index] as Address) : { host, port: port === 0 ? 0 : port + index };
}

/** Whose service a client asks at the first machine's address. */
function simulatorByClient(
  [first, ...others]: readonly Simulator[],
  { clients = [] }: SimulatorServerOptions,
): (client: string) => Simulator {
  const byClient = new Map(others.map((simulator, index) => [clients[index + 1], simulator]));
  return (client) => byClient.get(client) ?? (first as Simulator);
}

function requestHandler(simulatorFor: (client: string) => Simulator, { onAnswer }: SimulatorServerOptions): RequestHandler {
  return (request, client) => {
    const simulator = simulatorFor(client.address);
    const [path] = pathAndQuery(request.url);
    if (isPagePath(path)) return answerPage(request.method, path);
    const answer = simulator.handle(request, client);
    if (onAnswer && isMetadataRoute(request.url)) onAnswer(request, answer, simulator.group.clock.nowMs(), simulator.vmName);
    return answer;
  };
}
