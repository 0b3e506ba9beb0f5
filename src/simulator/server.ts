// Addresses, machines and what they play → a group whose every machine answers on a port of its own.
import type { Logger } from 'pino';
import { BridgeError } from '../errors.ts';
import { isLoopback } from '../private-addresses.ts';
import type { Deps } from '../time.ts';
import { Alarms } from './alarms.ts';
import { problem, type SimAnswer, type SimRequest } from './answer.ts';
import { Group, type GroupOptions } from './group.ts';
import { type MachinesWanted, machineNames } from './life/machine.ts';
import { type Address, type Answering, listen } from './listener.ts';
import { isMetadataRoute } from './metadata/metadata-routes.ts';
import { isPagePath, pageFile } from './page-files.ts';
import type { Script } from './script/script.ts';
import { findScenario, shippedScenarios } from './shipped-scenarios.ts';
import { Simulator } from './simulator.ts';

export interface SimulatorServerOptions extends MachinesWanted, Pick<GroupOptions, 'speed' | 'strict' | 'gpu'> {
  /** The first machine's; the others follow on PORT + 1, …, or on free ones where the port is 0. */
  readonly listen: Address;
  /** Where the first machine answers besides. */
  readonly also?: readonly Address[];
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
  const { also = [], scenario, deps, logger } = options;
  const scenarios = await shippedScenarios();
  const script = options.script ?? (scenario === undefined ? undefined : await findScenario(scenario));
  const { gpu = script?.group?.gpu ?? false, speed = 1, strict = false } = options;
  const group = new Group({ deps, vms: machineNames(options, script?.group), speed, strict, gpu, scenarios });
  const ports = portsOf(options.listen, group.machines.length);
  if (script) group.player.start(script, group.catchUp());
  const clocks = { deps, alarms: new Alarms(group.clock, deps) };
  const open = new AsyncDisposableStack();
  const simulators = group.machines.map((machine) => new Simulator(group, machine));
  const listenAt = async (address: Address, simulator: Simulator): Promise<string> => {
    const listener = open.use(await listen(address, answering(simulator, options), clocks));
    if (!isLoopback(address.host))
      logger?.warn({ url: listener.url }, 'the simulator listens beyond loopback: whoever reaches this port can steer it');
    return listener.url;
  };
  try {
    for (const [index, simulator] of simulators.entries()) {
      group.urls.set(simulator.vmName, await listenAt({ ...options.listen, port: ports[index] as number }, simulator));
    }
    for (const address of also) await listenAt(address, simulators[0] as Simulator);
  } catch (error) {
    await open.disposeAsync();
    throw error;
  }
  const urls = [...group.urls].map(([vm, url]) => ({ vm, url }));
  return { url: urls[0]?.url as string, urls, group, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

function portsOf({ port }: Address, count: number): readonly number[] {
  const last = port + count - 1;
  if (port > 0 && last > 65_535) {
    throw new BridgeError(
      'BRIDGE_USAGE',
      `${count} machines from port ${port} on would need ports up to ${last}: choose ${65_536 - count} or lower`,
    );
  }
  return Array.from({ length: count }, (_, index) => (port === 0 ? 0 : port + index));
}

function answering(simulator: Simulator, { onAnswer }: SimulatorServerOptions): Answering {
  return (request) => {
    const [path = ''] = request.url.split('?');
    if (isPagePath(path)) return page(request.method, path);
    const answer = simulator.handle(request);
    if (onAnswer && isMetadataRoute(request.url)) onAnswer(request, answer, simulator.group.clock.nowMs(), simulator.vmName);
    return answer;
  };
}

async function page(method: string, path: string): Promise<SimAnswer> {
  if (method !== 'GET' && method !== 'HEAD') return problem({ status: 405, detail: `${path} takes GET.` }, { allow: 'GET, HEAD' });
  const file = await pageFile(path);
  if (!file) return problem({ status: 404, detail: `There is no ${path}.` });
  return { status: 200, headers: { 'content-type': file.contentType, ...file.headers }, body: file.body };
}
