// DHCP lease files as text → the IPv4 address in option 245 (protocol 1.5).

/**
 * `option unknown-245 a8:3f:81:10;` of dhclient; `OPTION_245=a83f8110` of systemd-networkd; `private_245=`,
 * `unknown_245=` of NetworkManager.
 */
const IN_LEASE = /^(?:option\s+([\w.-]+)\s+(\S.*);|(?:option|private|unknown)[_-]245\s*=\s*(\S.*))$/i;
const UNDECLARED = ['unknown-245', 'private-245'];
/** `option azure-host code 245 = ip-address;` */
const DECLARATION = /^[ \t]*option\s+([\w.-]+)\s+code\s+245\s*=/gim;
const IN_REGISTRY = /\bREG_BINARY\s+([0-9a-f]+)/gi;

/**
 * Returns the names, in lower case, that a dhclient.conf declares for option 245. dhclient uses them in its leases
 * (dhcp-options(5)).
 */
export function declaredNames(conf: string): readonly string[] {
  return [...conf.matchAll(DECLARATION)].map(([, name = '']) => name.toLowerCase());
}

/**
 * Returns the address of the last (newest) lease in a lease file of dhclient, NetworkManager or systemd-networkd; null
 * if none has the option.
 * @param names those that dhclient.conf declares for the option
 */
export function addressInLease(text: string, names: readonly string[] = []): string | null {
  const known = [...UNDECLARED, ...names];
  const values = text.split('\n').map((line) => {
    const [, name, ofDhclient, ofOthers] = IN_LEASE.exec(line.trim()) ?? [];
    const isAsked = name === undefined || known.includes(name.toLowerCase());
    return isAsked ? decodeAddress(ofDhclient ?? ofOthers ?? '') : null;
  });
  return values.findLast((address) => address !== null) ?? null;
}

/** Returns the address in the output of `reg query … /v DhcpInterfaceOptions`; null if no interface has the option. */
export function addressInRegistry(output: string): string | null {
  for (const [, hex] of output.matchAll(IN_REGISTRY)) {
    const address = addressInRecords(Buffer.from(hex ?? '', 'hex'));
    if (address !== null) return address;
  }
  return null;
}

/**
 * Returns four bytes in hex, decimal, or a quoted string with octal escapes as dotted decimal; null for anything else.
 */
export function decodeAddress(value: string): string | null {
  const text = value.trim();
  const bytes = fromQuoted(text) ?? fromDecimal(text) ?? fromHex(text);
  if (bytes?.length !== 4 || bytes.some((byte) => byte > 255)) return null;
  const isUsable = bytes[0] !== 0 && (bytes[0] ?? 255) < 224;
  return isUsable ? bytes.join('.') : null;
}

/** dhclient quotes bytes that are all printable; other clients write the rest in octal: `"\250?\201\020"`. */
function fromQuoted(text: string): number[] | null {
  const quoted = /^"(.*)"$/s.exec(text)?.[1];
  if (quoted === undefined) return null;
  return [...quoted.matchAll(/\\([0-7]{3})|\\?(.)/gs)].map(([, octal, char]) =>
    octal ? Number.parseInt(octal, 8) : (char ?? '').charCodeAt(0),
  );
}

/** `168.63.129.16`, `168,63,129,16`, or one 32-bit number of 9 or 10 digits; 8 digits are hex. */
function fromDecimal(text: string): number[] | null {
  if (/^\d{1,3}([., ]\d{1,3}){3}$/.test(text)) return text.split(/[., ]/).map(Number);
  const number = /^\d{9,10}$/.test(text) ? Number(text) : Number.NaN;
  return number < 2 ** 32 ? [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255] : null;
}

/** `a8:3f:81:10`, `a8:3f:81:1`, `a8-3f-81-10`, `a83f8110` or `0xa83f8110`. */
function fromHex(text: string): number[] | null {
  const parts = /^([0-9a-f]{1,2}[:-]){3}[0-9a-f]{1,2}$/i.test(text)
    ? text.split(/[:-]/)
    : /^(?:0x)?([0-9a-f]{8})$/i.exec(text)?.[1]?.match(/../g);
  return parts?.map((part) => Number.parseInt(part, 16)) ?? null;
}

/** Each record has code, 0, length, 0, expiry (u32 each, little endian), then data padded to four bytes. */
function addressInRecords(bytes: Buffer): string | null {
  let at = 0;
  while (at + 20 <= bytes.length) {
    const [code, length] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 8)];
    const data = bytes.subarray(at + 20, at + 20 + length);
    if (code === 245 && data.length === 4) return decodeAddress(data.toString('hex'));
    at += 20 + Math.ceil(length / 4) * 4;
  }
  return null;
}
