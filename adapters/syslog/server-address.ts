// The text of `server` → where syslog messages go, or what is wrong with it. Pure.
import { hostOf } from '../../src/net/http-exchange.ts';
import { isMetadataAddress } from '../../src/net/private-addresses.ts';

export interface NetworkServer {
  readonly transport: 'tls' | 'tcp' | 'udp';
  /** A name or an IP address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** As it was written. */
  readonly text: string;
}

export interface LocalServer {
  readonly transport: 'unix';
  readonly path: string;
  readonly text: string;
}

export type SyslogServer = NetworkServer | LocalServer;

const EXAMPLE = 'must be tls://HOST:PORT, tcp://HOST:PORT, udp://HOST:PORT or unix:PATH';
const NETWORK = /^(tls|tcp|udp):\/\/([^\s/\\?#@]+):(\d{1,5})$/;
const LOCAL = /^unix:(.*)$/s;
/** What the kernel's structure has room for; a longer one would be cut. */
const LONGEST_PATH = 107;

/** Null where nothing is wrong. */
export function serverFault(text: string): string | null {
  const path = LOCAL.exec(text)?.[1];
  if (path !== undefined) return pathFault(path);
  const server = networkServer(text);
  if (server === null) return EXAMPLE;
  if (server.port === 0 || server.port > 65_535) return `${EXAMPLE}: the port lies between 1 and 65535`;
  return isMetadataAddress(server.host) ? 'is an address of the metadata service, where no event ever goes: correct it' : null;
}

/** @param text without a fault. @throws TypeError otherwise */
export function parseServer(text: string): SyslogServer {
  const path = LOCAL.exec(text)?.[1];
  if (path !== undefined) return { transport: 'unix', path, text };
  const server = networkServer(text);
  if (server === null) throw new TypeError(EXAMPLE);
  return server;
}

function networkServer(text: string): NetworkServer | null {
  const [, transport, host, port] = NETWORK.exec(text) ?? [];
  // The rules for hosts of URLs that browsers follow: 0x7f.1 is 127.0.0.1, and is judged as that.
  const url = host === undefined ? null : URL.parse(`https://${host}`);
  if (url === null || url.port !== '') return null;
  return { transport: transport as NetworkServer['transport'], host: hostOf(url), port: Number(port), text };
}

function pathFault(path: string): string | null {
  if (!path.startsWith('/') || path.includes('\0'))
    return 'must be unix: and the absolute path of a stream socket, such as unix:/run/syslog.sock';
  return Buffer.byteLength(path) > LONGEST_PATH ? `has a path of more than ${LONGEST_PATH} bytes, which no socket can have` : null;
}
