// A caller's IP address → its network for counting: the address, or an IPv6 /64.
import { isIPv6 } from 'node:net';

/** An IPv4 address of an IPv6 socket counts as the IPv4 address. A text that is not an address is returned unchanged. */
export function networkOf(address: string): string {
  const plain = address.replace(/%.*/, '');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(plain)) return address;
  // The URL parser writes every form of an address in one way, with one `::` at most.
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`;
}
