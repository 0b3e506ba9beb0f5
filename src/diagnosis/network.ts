// An unreachable metadata service, proxy variables → what blocks the way to it on this machine.
import { isIP } from 'node:net';
import { isMetadataAddress } from '../net/private-addresses.ts';
import { type Finding, fault, note } from './finding.ts';
import type { MachineProbe } from './machine.ts';

/** Interfaces of containers, bridges and tunnels, which do not lead to the metadata service. */
const VIRTUAL = /^(?:docker|br-|veth|virbr|cni|flannel|cali|vxlan|tun|tap|wg|tailscale|zt|utun)/;

const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];

/** @param endpoint the base address of the service */
export async function networkFindings(endpoint: string, machine: MachineProbe): Promise<readonly Finding[]> {
  const host = new URL(endpoint).hostname.replaceAll(/[[\]]/g, '');
  if (isIP(host) === 0) return [];
  const source = await machine.sourceOf(host);
  if ('code' in source) return [fault('network', noRoute(host, source.code))];
  const own = nameOf(source.address, machine);
  const usual = defaultInterface(machine);
  const findings: Finding[] = [];
  if (own !== null && VIRTUAL.test(own)) findings.push(fault('network', wrongWay(host, own, source.address)));
  else if (isMetadataAddress(host) && own !== null && usual !== null && own !== usual)
    findings.push(fault('network', otherThanUsual(host, own, source.address, usual)));
  if (isMetadataAddress(host) && isContained(own, machine)) findings.push(fault('container', OWN_NETWORK));
  return findings;
}

const OWN_NETWORK =
  "this container has its own network, from which the metadata service may be unreachable: use the host's network (hostNetwork: true, " +
  '--network host)';

function noRoute(host: string, code: string): string {
  return (
    `no route leads to ${host} (${code}): is this an Azure VM, and is its primary network interface up? ` +
    `"ip route get ${host}" shows the error; a static network configuration needs a route through the primary interface`
  );
}

function wrongWay(host: string, own: string, address: string): string {
  return `requests to ${host} leave by ${own} (${address}), which is not a network interface of the VM: add a route for this address that bypasses the VPN or bridge`;
}

function otherThanUsual(host: string, own: string, address: string, usual: string): string {
  return (
    `requests to ${host} leave by ${own} (${address}), but the default route uses ${usual}: only the VM's primary network interface reaches the ` +
    `metadata service. "ip route add ${host} dev ${usual}" tries the other interface`
  );
}

function nameOf(address: string, machine: MachineProbe): string | null {
  const found = Object.entries(machine.interfaces()).find(([, own = []]) =>
    own.some((each) => each.address === address),
  );
  return found?.[0] ?? null;
}

/** Returns the interface of the default route on Linux; null elsewhere, or without a default route. */
function defaultInterface(machine: MachineProbe): string | null {
  const routes = (machine.text('/proc/net/route') ?? '').split('\n').map((line) => line.split('\t'));
  const defaults = routes.filter(
    ([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000',
  );
  defaults.sort((one, other) => Number(one[6]) - Number(other[6]));
  return defaults[0]?.[0] ?? null;
}

/** In the network namespace of a container, an interface is one end of a pair, and the other end is outside. */
function isContained(own: string | null, machine: MachineProbe): boolean {
  if (own === null) return false;
  const [index, peer] = ['ifindex', 'iflink'].map((name) => machine.text(`/sys/class/net/${own}/${name}`)?.trim());
  return index !== undefined && peer !== undefined && index !== peer;
}

/**
 * For a check that could not reach something.
 * @param env only names are shown, because a proxy's URL may contain a password
 */
export function proxyFindings(env: Readonly<Record<string, string | undefined>>): readonly Finding[] {
  const set = PROXY_VARIABLES.flatMap((name) => [name, name.toLowerCase()]).filter((name) => (env[name] ?? '') !== '');
  if (set.length === 0) return [];
  return [
    note(
      'proxy',
      `${set.join(', ')} ${set.length === 1 ? 'is' : 'are'} set, but the bridge does not read ${set.length === 1 ? 'it' : 'them'}: requests to the metadata service ` +
        'must not use a proxy; for a sink behind a proxy, set its option "proxy"',
    ),
  ];
}
