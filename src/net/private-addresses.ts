// An IP address or a host → its network, and may a request go there? (behaviour 5.17).
import type { LookupAddress, LookupOptions } from 'node:dns';
import { BlockList, isIP, isIPv4, isIPv6, type LookupFunction } from 'node:net';

/** `private`: allowed only if listed; `metadata`: never allowed. */
export type AddressVerdict = 'allowed' | 'private' | 'metadata';

/** Always forbidden: the addresses that serve the machine's identity. */
const METADATA = listOf(['169.254.169.254', '168.63.129.16']);

const LOOPBACK = listOf(['127.0.0.0/8', '::1/128']);

/**
 * Ranges of this machine, its link or its network. `::/96` contains `::`, `::1` and the obsolete IPv4-compatible form.
 */
const PRIVATE = listOf([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  ...['::/96', '64:ff9b:1::/48', 'fc00::/7', 'fe80::/10', 'fec0::/10'],
]);

/** Returns whether the text is an address or a range in CIDR notation: `10.0.0.0/8`, `::1/128`, `127.0.0.1`. */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

/**
 * Returns a function that classifies addresses. `allowedRanges` are allowed although they are private. For embedded
 * IPv4, only the embedded address counts: mapped, translated (RFC 2765), NAT64 (RFC 6052, and the /96 form of RFC
 * 8215's prefix) or 6to4.
 * @throws TypeError if a range is invalid (`isAddressRange`); the returned function throws it if the text is not an IP
 * address
 */
export function addressJudge(allowedRanges: readonly string[]): (address: string) => AddressVerdict {
  const allowed = listOf(allowedRanges);
  return (address) => {
    const subject = embeddedIpv4(address) ?? withoutZone(address);
    const family = isIPv4(subject) ? 'ipv4' : 'ipv6';
    if (METADATA.check(subject, family) || hidesMetadata(subject)) return 'metadata';
    if (allowed.check(subject, family)) return 'allowed';
    return PRIVATE.check(subject, family) ? 'private' : 'allowed';
  };
}

/**
 * Classifies the host of a URL if it is an address. Returns `allowed` for a name, which is checked when it is resolved.
 */
export function judgeLiteral(url: URL, judge: (address: string) => AddressVerdict): AddressVerdict {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? 'allowed' : judge(host);
}

/** Returns whether a host (a name, or an address without brackets) is the loopback interface. */
export function isLoopback(host: string): boolean {
  return (
    host.toLowerCase() === 'localhost' || (isIP(host) !== 0 && LOOPBACK.check(host, isIPv4(host) ? 'ipv4' : 'ipv6'))
  );
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    if (!isAddressRange(range)) throw new TypeError(`${range} is not an address range`);
    const [address = '', prefix] = range.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    list.addSubnet(address, prefix === undefined ? (family === 'ipv4' ? 32 : 128) : Number(prefix), family);
  }
  return list;
}

/** Returns the IPv4 address that an IPv6 address embeds, or null if it embeds none. */
function embeddedIpv4(address: string): string | null {
  if (isIPv4(address)) return null;
  const groups = groupsOf(withoutZone(address));
  const [first = 0, second = 0, third = 0] = groups;
  const between = groups.slice(2, 6);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  const translated = groups.slice(0, 4).every((group) => group === 0) && groups[4] === 0xffff && groups[5] === 0;
  const nat64 =
    first === 0x64 &&
    second === 0xff9b &&
    (third === 0 || third === 1) &&
    between.slice(1).every((group) => group === 0);
  if (mapped || translated || nat64) return dotted(groups[6], groups[7]);
  return first === 0x2002 ? dotted(second, third) : null;
}

/**
 * Returns whether an address hides a metadata address in another form: a NAT64 prefix shorter than /96 (RFC 6052), or
 * IPv4-compatible.
 */
function hidesMetadata(address: string): boolean {
  if (isIPv4(address)) return false;
  const bytes = groupsOf(address).flatMap((group) => [group >> 8, group & 0xff]);
  const spells = (...places: number[]) => METADATA.check(places.map((place) => bytes[place]).join('.'), 'ipv4');
  const compatible = bytes.slice(0, 12).every((byte) => byte === 0);
  const localNat64 = [0, 0x64, 0xff, 0x9b, 0, 1].every((byte, place) => bytes[place] === byte);
  if (compatible) return spells(12, 13, 14, 15);
  return localNat64 && (spells(6, 7, 9, 10) || spells(7, 9, 10, 11) || spells(9, 10, 11, 12) || spells(12, 13, 14, 15));
}

/** Returns the eight 16-bit groups of an IPv6 address. @throws TypeError if it is not one */
function groupsOf(address: string): number[] {
  if (isIP(address) !== 6) throw new TypeError(`${address} is not an IP address`);
  // The URL parser converts a dotted tail to hex and leaves at most one `::`.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
}

function dotted(high = 0, low = 0): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

const beyondMetadata = addressJudge(['0.0.0.0/0', '::/0']);

/**
 * Returns whether a host is an address of the metadata service, which only the metadata client may use. False for a
 * name.
 */
export function isMetadataAddress(host: string): boolean {
  return isIP(host) !== 0 && beyondMetadata(host) === 'metadata';
}

/** `fe80::1%eth0` → `fe80::1` */
function withoutZone(address: string): string {
  return address.replace(/%.*/, '');
}

/** @param hostHeader with or without a port @param listenHost as configured; an IPv6 address without brackets */
export function isOwnHost(hostHeader: string, listenHost: string): boolean {
  const name = hostHeader.toLowerCase().replace(/:\d*$/, '');
  const address = name.replace(/^\[(.*)\]$/, '$1');
  return isLoopback(address) || address === listenHost.toLowerCase();
}

/**
 * An IPv4 address of an IPv6 socket counts as the IPv4 address. A text that is not an address is returned unchanged.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/%.*/, '');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(plain)) return address;
  const network = groupsOf(plain).slice(0, 4);
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}

/** `dns.lookup` with `all`; tests replace it. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** The allowed addresses for the connections of one target. */
export interface AddressGuard {
  readonly isAllowed: (address: string) => boolean;
  /** Creates the error if no address is allowed. `address` is one of the forbidden ones, or `no address`. */
  readonly forbidden: (address: string, hostname: string) => Error;
}

/**
 * Returns a lookup for connections. It checks every address of the name and passes on only the allowed ones, so no
 * connection can use an unchecked address. Fails with the guard's error if none is allowed.
 */
export function checkedLookup(
  { isAllowed, forbidden }: AddressGuard,
  resolve: Resolve = systemResolve,
): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, '');
      const allowed = found.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (!first) return done(forbidden(found[0]?.address ?? 'no address', hostname), '');
      if (options.all) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };
}

/** Checks a host that is itself an address, which Node does not look up. @throws the guard's error */
export function checkLiteral({ isAllowed, forbidden }: AddressGuard, host: string): void {
  if (isIP(host) !== 0 && !isAllowed(host)) throw forbidden(host, host);
}

/** The only place that resolves names. */
function systemResolve(...asked: Parameters<Resolve>): void {
  process.getBuiltinModule('node:dns').lookup(...asked);
}
