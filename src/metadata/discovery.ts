// `endpoint: discover` → the base address of the service outside a virtual network (protocol 1.5).
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { BridgeError, messageOf } from '../errors.ts';
import { addressInLease, addressInRegistry, declaredNames } from './dhcp-option.ts';
import type { MetadataTransport } from './transport.ts';

export const LINK_LOCAL_ENDPOINT = 'http://169.254.169.254';
const PORTS = [80, 8080];
const PROBE_TIMEOUT_MS = 5000;

const LEASE_FOLDERS = [
  'var/lib/dhcp',
  'var/lib/dhcp3',
  'var/lib/dhclient',
  'var/lib/NetworkManager',
  'run/NetworkManager/devices',
  'run/systemd/netif/leases',
] as const;
/** Folders of dhclient.conf: the administrator's, and the one that NetworkManager generates from it. */
const CONF_FOLDERS = ['etc', 'etc/dhcp', 'var/lib/NetworkManager'] as const;
const INTERFACES_KEY = 'HKLM\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters\\Interfaces';

interface DiscoveryPorts {
  /** Whether a metadata service answers at this base address. */
  readonly probe: (baseUrl: string, signal: AbortSignal) => Promise<boolean>;
  /** The address in DHCP option 245, or null. */
  readonly optionAddress: () => Promise<string | null>;
}

/**
 * Tries 169.254.169.254, then the address in DHCP option 245 on port 80 and on 8080.
 * @throws BridgeError BRIDGE_METADATA_UNDISCOVERED, with what to set
 */
export async function discoverEndpoint({ probe, optionAddress }: DiscoveryPorts, signal: AbortSignal): Promise<string> {
  if (await probe(LINK_LOCAL_ENDPOINT, signal)) return LINK_LOCAL_ENDPOINT;
  const address = await optionAddress();
  for (const port of address === null ? [] : PORTS) {
    const baseUrl = port === 80 ? `http://${address}` : `http://${address}:${port}`;
    if (await probe(baseUrl, signal)) return baseUrl;
  }
  const tried =
    address === null
      ? 'no DHCP lease on this machine has option 245'
      : `the address in DHCP option 245, ${address}, does not answer on port 80 or 8080`;
  throw new BridgeError(
    'BRIDGE_METADATA_UNDISCOVERED',
    `cannot find the metadata service: 169.254.169.254 does not answer, and ${tried}; set metadata.endpoint to its address, such as http://192.0.2.1`,
  );
}

/**
 * Returns a probe of the route that needs no api-version and does not enable the service. Any answer counts except a
 * redirect.
 */
export function probeBy(transport: MetadataTransport): DiscoveryPorts['probe'] {
  return async (baseUrl, signal) => {
    try {
      const request = {
        method: 'GET',
        url: `${baseUrl}/metadata/versions`,
        headers: { Metadata: 'true' },
        timeoutMs: PROBE_TIMEOUT_MS,
      } as const;
      const { status } = await transport(request, signal);
      return status < 300 || status >= 400;
    } catch {
      signal.throwIfAborted();
      return false;
    }
  };
}

export interface LocalMachine {
  readonly platform: NodeJS.Platform;
  /** The root of the file system: `/` except in tests. */
  readonly root: string;
  /** Returns the output of `reg query` for the interfaces' DHCP options. */
  readonly queryRegistry: () => Promise<string>;
}

/** Reads DHCP option 245 from the lease files, newest first, or from the Windows registry. Skips unreadable files. */
export async function readOptionAddress(machine: LocalMachine = thisMachine()): Promise<string | null> {
  if (machine.platform === 'win32') return addressInRegistry(await machine.queryRegistry().catch(() => ''));
  const names = (await Promise.all((await confFiles(machine.root)).map(textOf))).flatMap(declaredNames);
  for (const path of await leaseFiles(machine.root)) {
    const address = addressInLease(await textOf(path), names);
    if (address !== null) return address;
  }
  return null;
}

export function thisMachine(): LocalMachine {
  return { platform: process.platform, root: '/', queryRegistry };
}

/** Returns '' if the file cannot be read. */
function textOf(path: string): Promise<string> {
  return readFile(path, 'latin1').catch(() => '');
}

async function confFiles(root: string): Promise<readonly string[]> {
  return (await pathsIn(root, CONF_FOLDERS)).filter((path) => /^dhclient.*\.conf$/.test(basename(path)));
}

async function leaseFiles(root: string): Promise<readonly string[]> {
  const paths = await pathsIn(root, LEASE_FOLDERS);
  const dated = await Promise.all(paths.map(async (path) => ({ path, changedMs: await changedMs(path) })));
  return dated
    .filter(({ changedMs }) => changedMs > 0)
    .sort((a, b) => b.changedMs - a.changedMs)
    .map(({ path }) => path);
}

async function pathsIn(root: string, folders: readonly string[]): Promise<readonly string[]> {
  const paths = folders.map(async (name) => {
    const folder = join(root, name);
    return (await readdir(folder).catch(() => [])).map((entry) => join(folder, entry));
  });
  return (await Promise.all(paths)).flat();
}

/** Returns 0 if it is not a file. */
async function changedMs(path: string): Promise<number> {
  const stats = await stat(path).catch(() => null);
  return stats?.isFile() ? stats.mtimeMs : 0;
}

async function queryRegistry(): Promise<string> {
  const { execFile } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    execFile(
      'reg',
      ['query', INTERFACES_KEY, '/s', '/v', 'DhcpInterfaceOptions'],
      { windowsHide: true },
      (error, stdout) =>
        error
          ? reject(
              new BridgeError('BRIDGE_METADATA_UNDISCOVERED', `cannot read the registry: ${messageOf(error)}`, {
                cause: error,
              }),
            )
          : resolve(stdout),
    );
  });
}
