// Addresses, machines and what they play → a group whose every machine answers on a port of its own.
import type { Logger } from 'pino';
import { BridgeError } from '../errors.ts';
import { isLoopback } from '../private-addresses.ts';
import type { Deps } from '../time.ts';
import { Alarms } from './alarms.ts';
import { pathAndQuery, type SimAnswer, type SimRequest } from './answer.ts';
import { Group, type GroupOptions } from './group.ts';
import { type MachinesWanted, machineNames } from './life/machine.ts';
import { type Address, type Answering, listen } from './listener.ts';
import { isMetadataRoute } from './metadata/metadata-routes.ts';
import { answerPage, isPagePath } from './page-files.ts';
import type { Script } from './script/script.ts';
import { findScenario, shippedScenarios } from './shipped-scenarios.ts';
import { Simulator } from './simulator.ts';

export interface SimulatorServerOptions
  extends MachinesWanted,
    Pick<GroupOptions, 'speed' | 'strict' | 'gpu' | 'notBefore' | 'apiVersions' | 'unknownApiVersion'> {
  /** The first machine's; the others follow on PORT + 1, …, or on free ones where the port is 0. */
  readonly listen: Address;
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
 * @throws BridgeError BRIDGE_USAGE for an unknown scenario, for machines without a name of their own or more of them than ports;
 * BRIDGE_SIMULATOR_SCENARIO for a faulty file; BRIDGE_SIMULATOR_LISTEN where an address cannot be had
 */
export async function startSimulator(options: SimulatorServerOptions): Promise<SimulatorServer> {
  const { deps, allowHosts = [] } = options;
  const group = await groupOf(options);
  const parts = { deps, alarms: new Alarms(group.clock, deps), allowHosts, dateMs: () => group.clock.nowMs() };
  await using open = new AsyncDisposableStack();
  const listenAt = async (address: Address, simulator: Simulator): Promise<string> => {
    const { url } = open.use(await listen(address, answering(simulator, options), parts));
    if (!isLoopback(address.host))
      options.logger?.warn({ url }, 'the simulator listens beyond loopback: whoever reaches this port can steer it');
    return url;
  };
  for (const [index, machine] of group.machines.entries()) {
    const simulator = new Simulator(group, machine);
    group.urls.set(machine.name, await listenAt(addressOf(index, options), simulator));
    if (index === 0) for (const address of options.also ?? []) await listenAt(address, simulator);
  }
  const [url = ''] = group.urls.values();
  const moved = open.move();
  return { url, urls: [...group.urls].map(([vm, url]) => ({ vm, url })), group, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

/** On which its script has begun. */
async function groupOf(options: SimulatorServerOptions): Promise<Group> {
  const { deps, scenario, speed = 1, strict = false, notBefore = 'simulated' } = options;
  const script = options.script ?? (scenario === undefined ? undefined : await findScenario(scenario));
  const scenarios = withOwn(await shippedScenarios(), script);
  const { gpu = script?.group?.gpu ?? false, apiVersions = script?.group?.apiVersions } = options;
  const { unknownApiVersion = script?.group?.unknownApiVersion } = options;
  const host = { ...(apiVersions && { apiVersions }), ...(unknownApiVersion && { unknownApiVersion }) };
  const group = new Group({ deps, vms: machineNames(options, script?.group), speed, strict, gpu, notBefore, scenarios, ...host });
  refuseTooManyFor(options.listen, group.machines.length);
  if (script) group.play(script);
  return group;
}

/** The user's own comes last, and in the place of one of its name. */
function withOwn(shipped: readonly Script[], script: Script | undefined): readonly Script[] {
  return script === undefined || shipped.includes(script) ? shipped : [...shipped.filter(({ name }) => name !== script.name), script];
}

function refuseTooManyFor({ port }: Address, count: number): void {
  const last = port + count - 1;
  if (port === 0 || last <= 65_535) return;
  throw new BridgeError(
    'BRIDGE_USAGE',
    `${count} machines from port ${port} on would need ports up to ${last}: choose ${65_536 - count} or lower`,
  );
}

/** Of machine N of the group. */
function addressOf(index: number, { listen: { host, port } }: SimulatorServerOptions): Address {
  return { host, port: port === 0 ? 0 : port + index };
}

function answering(simulator: Simulator, { onAnswer }: SimulatorServerOptions): Answering {
  return (request, client) => {
    const [path] = pathAndQuery(request.url);
    if (isPagePath(path)) return answerPage(request.method, path);
    const answer = simulator.handle(request, client);
    if (onAnswer && isMetadataRoute(request.url)) onAnswer(request, answer, simulator.group.clock.nowMs(), simulator.vmName);
    return answer;
  };
}
