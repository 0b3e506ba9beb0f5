// The text of `server` → a syslog server's address, or the fault in the text. Pure.
import { hostOf } from '../../src/net/http-exchange.ts';
import { isMetadataAddress } from '../../src/net/private-addresses.ts';

export interface NetworkServer {
  readonly transport: 'tls' | 'tcp' | 'udp';
  /** A name or an IP address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** The text in the configuration. */
  readonly text: string;
}

interface LocalServer {
  readonly transport: 'unix';
  readonly path: string;
  readonly text: string;
}

export type SyslogServer = NetworkServer | LocalServer;

const EXPECTED = 'must be tls://HOST:PORT, tcp://HOST:PORT, udp://HOST:PORT or unix:PATH';
const NETWORK = /^(tls|tcp|udp):\/\/([^\s/\\?#@]+):(\d{1,5})$/;
const LOCAL = /^unix:(.*)$/s;
/** In bytes: the kernel's structure has no room for more, and would cut the path. */
const MAX_PATH_BYTES = 107;

/** Returns the fault in the text of `server`, or null if it is valid. */
export function serverFault(text: string): string | null {
  const path = LOCAL.exec(text)?.[1];
  if (path !== undefined) return pathFault(path);
  const server = networkServer(text);
  if (server === null) return EXPECTED;
  if (server.port === 0 || server.port > 65_535) return `${EXPECTED}: the port must be between 1 and 65535`;
  return isMetadataAddress(server.host)
    ? 'is an address of the metadata service, and the bridge sends no events there: correct it'
    : null;
}

/**
 * Parses the text of `server`.
 * @param text a text without a fault
 * @throws TypeError if it has one
 */
export function parseServer(text: string): SyslogServer {
  const path = LOCAL.exec(text)?.[1];
  if (path !== undefined) return { transport: 'unix', path, text };
  const server = networkServer(text);
  if (server === null) throw new TypeError(EXPECTED);
  return server;
}

function networkServer(text: string): NetworkServer | null {
  const [, transport, host, port] = NETWORK.exec(text) ?? [];
  // The URL parser normalizes the host: 0x7f.1 becomes 127.0.0.1, and is checked as that.
  const url = host === undefined ? null : URL.parse(`https://${host}`);
  if (url === null || url.port !== '') return null;
  return { transport: transport as NetworkServer['transport'], host: hostOf(url), port: Number(port), text };
}

function pathFault(path: string): string | null {
  if (!path.startsWith('/') || path.includes('\0'))
    return 'must be unix: and the absolute path of a stream socket, such as unix:/run/syslog.sock';
  return Buffer.byteLength(path) > MAX_PATH_BYTES
    ? `has a path of more than ${MAX_PATH_BYTES} bytes, the limit for a socket: use a shorter path`
    : null;
}
