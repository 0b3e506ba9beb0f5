// A connection string → host and key or signature, or a fault without its values.
import { urlHost } from '../../../src/formats/url-host.ts';
import { isLoopback } from '../../../src/net/private-addresses.ts';

export interface NamespaceEndpoint {
  /** A name, or an address without brackets. */
  readonly host: string;
  /** Null: the default of the transport. */
  readonly port: number | null;
}

export interface ConnectionString {
  readonly endpoint: NamespaceEndpoint;
  /** A key with its name, or a shared access signature. */
  readonly access: { readonly name: string; readonly key: string } | { readonly signature: string };
  /** The queue or topic of the string; null: the whole namespace. */
  readonly entityPath: string | null;
  /** `UseDevelopmentEmulator=true`: without TLS, only on this machine. */
  readonly isEmulator: boolean;
}

const HOST = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const ENDPOINT = /^(?:sb|amqps?):\/\/(\[[0-9a-f:]+\]|[^/:@?#[\]\\]+)(?::(\d{1,5}))?\/?$/i;
const SIGNATURE = /^SharedAccessSignature sr=[!-~]+$/;

/** Parses `host` or `host:port`. Returns null if the text is invalid. */
export function parseEndpoint(text: string): NamespaceEndpoint | null {
  const match = /^(\[[0-9a-f:]+\]|[^:]+)(?::(\d{1,5}))?$/i.exec(text);
  return match ? endpointOf(match) : null;
}

/** Formats an endpoint for messages and the SDK. */
export function showEndpoint({ host, port }: NamespaceEndpoint): string {
  return port === null ? urlHost(host) : `${urlHost(host)}:${port}`;
}

/**
 * Returns the parts, or a fault without values. Names ignore case, as in the SDKs for .NET and Java. Unknown names are
 * ignored.
 */
export function parseConnectionString(text: string): ConnectionString | { readonly fault: string } {
  const parts = partsOf(text);
  if (typeof parts === 'string') return { fault: parts };
  const endpoint = endpointOf(ENDPOINT.exec(parts.get('endpoint') ?? ''));
  if (endpoint === null)
    return {
      fault: 'must contain one Endpoint such as sb://my-ns.servicebus.windows.net/, with nothing after the host',
    };
  const access = accessOf(parts);
  if (typeof access === 'string') return { fault: access };
  const emulator = parts.get('usedevelopmentemulator');
  // The SDK uses TLS for other spellings, which the author did not intend.
  if (emulator !== undefined && emulator !== 'true' && emulator !== 'false')
    return { fault: 'must contain exactly UseDevelopmentEmulator=true, in lower case, or omit it' };
  const isEmulator = emulator === 'true';
  if (isEmulator && !isLoopback(endpoint.host))
    return {
      fault:
        'contains UseDevelopmentEmulator=true for another machine, which would receive the token unencrypted: only loopback is allowed',
    };
  return { endpoint, access, entityPath: parts.get('entitypath') ?? null, isEmulator };
}

/** Returns the parts by name in lower case, or a fault. */
function partsOf(text: string): ReadonlyMap<string, string> | string {
  const parts = new Map<string, string>();
  for (const part of text.split(';').map((written) => written.trim())) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = part.slice(0, at).trim().toLowerCase();
    const value = part.slice(at + 1).trim();
    if (at < 1 || name === '') return 'must consist of Name=value parts, separated by semicolons';
    if (parts.has(name)) return 'contains a part twice';
    if (value !== '') parts.set(name, value);
  }
  return parts;
}

function accessOf(parts: ReadonlyMap<string, string>): ConnectionString['access'] | string {
  const [name, key, signature] = ['sharedaccesskeyname', 'sharedaccesskey', 'sharedaccesssignature'].map((part) =>
    parts.get(part),
  );
  if (signature !== undefined) {
    if (key !== undefined) return 'must contain either SharedAccessKey or SharedAccessSignature, not both';
    return SIGNATURE.test(signature)
      ? { signature }
      : 'must contain a SharedAccessSignature that begins with "SharedAccessSignature sr="';
  }
  if (name === undefined || key === undefined)
    return 'must contain SharedAccessKeyName and SharedAccessKey, or SharedAccessSignature';
  return { name, key };
}

function endpointOf(match: RegExpExecArray | null): NamespaceEndpoint | null {
  const [, name, port] = match ?? [];
  if (name === undefined) return null;
  const host = name.replace(/^\[|\]$/g, '');
  const isAddress = process.getBuiltinModule('node:net').isIP(host) !== 0;
  const number = port === undefined ? null : Number(port);
  const isPort = number === null || (number >= 1 && number <= 65_535);
  return isPort && (isAddress || HOST.test(host)) ? { host, port: number } : null;
}
