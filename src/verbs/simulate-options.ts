// The options of `simulate` → checked options of the simulator, the replay or the recording.

import { isIP, isIPv6 } from 'node:net';
import { API_VERSIONS } from '../model/api-versions.ts';
import type { ListenAddress } from '../net/guarded-server.ts';
import { NOT_BEFORE_CLOCKS, type NotBeforeClock } from '../simulator/events/event.ts';
import { type MachineOptions, MOST_MACHINES } from '../simulator/events/machine.ts';
import { FASTEST } from '../simulator/events/virtual-clock.ts';
import type { SimulatorServerOptions } from '../simulator/server.ts';
import { optionText, optionTexts, usageError, type VerbContext } from './verb.ts';

/** Options of the simulated service. They have no meaning with `--upstream`. */
const SIMULATION_OPTIONS = [
  ...[
    'also',
    'client',
    'vms',
    'name',
    'gpu',
    'scenario',
    'replay',
    'speed',
    'not-before',
    'strict',
    'api-versions',
    'unknown-api-version',
  ],
] as const;

export interface RecordOptions {
  readonly path: string;
  readonly anonymise: boolean;
  /** The URL of the real metadata service to record. Default: records the simulated service. */
  readonly upstream?: string;
}

/** Returns the addresses of `--listen`, at least one. @throws BridgeError BRIDGE_USAGE */
export function listenOption(context: VerbContext): readonly [ListenAddress, ...ListenAddress[]] {
  const [first = '127.0.0.1:8080', ...others] = optionTexts(context, 'listen');
  return [address(first, '--listen'), ...others.map((value) => address(value, '--listen'))];
}

/** Returns the only address of `--listen`. @throws BridgeError BRIDGE_USAGE if there are several */
export function oneListenOption(context: VerbContext): ListenAddress {
  const [first, ...others] = listenOption(context);
  if (others.length === 0) return first;
  throw usageError('--upstream has only one metadata service: give --listen once');
}

/** Returns the names of `--allow-host`. @throws BridgeError BRIDGE_USAGE */
export function allowHostsOption(context: VerbContext): readonly string[] {
  return optionTexts(context, 'allow-host').map((value) => {
    if (/^[^\s:/[\]]+$/.test(value) || isIPv6(value)) return value;
    throw usageError(`--allow-host takes a name or an address without a port, such as azure.test, not "${value}"`);
  });
}

/** Returns the options of the simulated group. @throws BridgeError BRIDGE_USAGE */
export function groupOptions(context: VerbContext): Omit<SimulatorServerOptions, 'listen' | 'deps'> {
  const scenario = optionText(context, 'scenario');
  if (scenario !== undefined && optionText(context, 'replay') !== undefined)
    throw usageError('--scenario and --replay cannot be combined: give one of them');
  return {
    also: optionTexts(context, 'also').map(alsoAt),
    ...clientsOption(context),
    ...machinesOption(context),
    ...(context.values['gpu'] ? { gpu: true } : {}),
    speed: speedOption(context),
    ...notBeforeOption(context),
    strict: context.values['strict'] === true,
    ...(scenario === undefined ? {} : { scenario }),
    ...versionsOption(context),
    ...unknownVersionOption(context),
  };
}

function clientsOption(context: VerbContext): Pick<SimulatorServerOptions, 'clients'> {
  const clients = optionTexts(context, 'client');
  const wrong = clients.find((client) => isIP(client) === 0);
  if (wrong !== undefined) throw usageError(`--client takes an IP address, such as 10.77.0.2, not "${wrong}"`);
  return clients.length === 0 ? {} : { clients };
}

function versionsOption(context: VerbContext): Pick<SimulatorServerOptions, 'apiVersions'> {
  const given = optionText(context, 'api-versions');
  if (given === undefined) return {};
  const apiVersions = given.split(',').map((version) => version.trim());
  const unknown = apiVersions.find((version) => !API_VERSIONS.some((known) => known === version));
  if (unknown === undefined) return { apiVersions };
  throw usageError(`--api-versions takes some of ${API_VERSIONS.join(',')}, not "${unknown}"`);
}

function unknownVersionOption(context: VerbContext): Pick<SimulatorServerOptions, 'unknownApiVersion'> {
  const given = optionText(context, 'unknown-api-version');
  if (given === undefined) return {};
  if (given === '400' || given === '404') return { unknownApiVersion: given === '400' ? 400 : 404 };
  throw usageError(`--unknown-api-version takes 400 or 404, not "${given}"`);
}

/**
 * Returns the options of a recording, or null without `--record`.
 * @throws BridgeError BRIDGE_USAGE for `--upstream` or `--anonymise` without `--record`, and for options that
 * `--upstream` excludes
 */
export function recordingOption(context: VerbContext): RecordOptions | null {
  const path = optionText(context, 'record');
  const upstream = optionText(context, 'upstream');
  const anonymise = context.values['anonymise'] === true;
  if (path === undefined) {
    if (upstream !== undefined || anonymise) throw usageError('--upstream and --anonymise need --record FILE');
    return null;
  }
  const conflicting =
    upstream === undefined ? undefined : SIMULATION_OPTIONS.find((name) => context.values[name] !== undefined);
  if (conflicting !== undefined)
    throw usageError(
      `--${conflicting} cannot be combined with --upstream, which records a real metadata service: leave it out`,
    );
  return { path, anonymise, ...(upstream === undefined ? {} : { upstream }) };
}

/**
 * Returns the machines of `--vms` and `--name`. Without `--vms`, NAME is a whole name, unless several machines have
 * addresses.
 */
export function machinesOption(context: VerbContext): MachineOptions {
  const given = optionText(context, 'vms');
  const name = optionText(context, 'name');
  const isSingle = optionTexts(context, 'listen').length < 2 && optionTexts(context, 'client').length === 0;
  if (given === undefined) return name === undefined ? {} : isSingle ? { vms: [name] } : { name };
  const vms = Number(given);
  if (!/^\d+$/.test(given) || vms < 1 || vms > MOST_MACHINES)
    throw usageError(`--vms takes a whole number from 1 to ${MOST_MACHINES}, not "${given}"`);
  return { vms, ...(name === undefined ? {} : { name }) };
}

function address(value: string, option: string): ListenAddress {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:]+)):(\d{1,5})$/.exec(value);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw usageError(`${option} takes HOST:PORT, such as 127.0.0.1:8080, not "${value}"`);
  return { host: (match[1] ?? match[2]) as string, port };
}

/** Rejects port 0, since the chosen port would not be printed. */
function alsoAt(value: string): ListenAddress {
  const at = address(value, '--also');
  if (at.port === 0) throw usageError(`--also takes a fixed port, such as ${at.host}:8080, not 0`);
  return at;
}

function speedOption(context: VerbContext): number {
  const given = optionText(context, 'speed') ?? '1';
  const speed = Number(given);
  if (!/^\d+(\.\d+)?$/.test(given) || speed <= 0 || speed > FASTEST)
    throw usageError(`--speed takes a number above 0 and up to ${FASTEST}, not "${given}"`);
  return speed;
}

function notBeforeOption(context: VerbContext): { readonly notBefore?: NotBeforeClock } {
  const given = optionText(context, 'not-before');
  if (given === undefined) return {};
  const notBefore = NOT_BEFORE_CLOCKS.find((known) => known === given);
  if (notBefore) return { notBefore };
  throw usageError(`--not-before takes ${NOT_BEFORE_CLOCKS.join(' or ')}, not "${given}"`);
}
