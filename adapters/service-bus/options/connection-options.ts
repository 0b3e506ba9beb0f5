// Configuration of the connection to a namespace → checked keys, for sinks and sources.
import * as v from 'valibot';
import { azureCredentialEntries, azureCredentialFaults } from '../../../src/azure/options.ts';
import { proxyEntry, proxyFault } from '../../../src/net/proxy-url.ts';
import { pemFile, tlsFaults } from '../../../src/net/tls-options.ts';
import type { OptionFault } from '../../../src/schema/faults.ts';
import { choice, type EntriesOf, secret, timeLimit } from '../../../src/schema/pieces.ts';
import {
  type ConnectionString,
  type NamespaceEndpoint,
  parseConnectionString,
  parseEndpoint,
} from './connection-string.ts';

const NAMESPACE_FAULT =
  'must be the host name of a namespace, such as my-ns.servicebus.windows.net, without sb:// or a path';
const CREDENTIAL_KEYS = ['credential', 'clientId', 'tenantId', 'clientSecret', 'certificate'] as const;

export const busConnectionEntries = {
  namespace: v.exactOptional(
    v.pipe(
      v.string(),
      v.check((text) => isNamespace(text), NAMESPACE_FAULT),
      v.description(
        'The host name of the namespace, for an identity in Microsoft Entra ID. Either this or connectionString.',
      ),
    ),
  ),
  ...azureCredentialEntries,
  connectionString: v.exactOptional(
    v.pipe(
      secret(),
      v.description(
        'A connection string with a key or a shared access signature, { env: NAME } or { file: PATH }; a file is read again when it changes.',
      ),
    ),
  ),
  transport: choice(
    ['amqp', 'websocket'],
    'amqp',
    'amqp: TLS to port 5671. websocket: AMQP in a WebSocket to port 443. Default amqp.',
  ),
  proxy: proxyEntry(
    'An HTTP proxy for transport websocket, by CONNECT: http://host:port. With a user and password only as a secret.',
  ),
  tls: v.exactOptional(
    v.pipe(
      v.strictObject({
        ca: pemFile('PEM file of the certificate authorities to trust instead of those of the machine.'),
      }),
      v.description('TLS of the connection. The file is read again when it changes.'),
    ),
  ),
  timeout: v.pipe(
    v.optional(timeLimit(), '10s'),
    v.description('How long one operation may take until it is answered, including its connection. Default 10s.'),
  ),
};

export type ServiceBusConnectionOptions = EntriesOf<typeof busConnectionEntries>;

/** Returns the faults that do not depend on secrets. */
export function busConnectionFaults(options: ServiceBusConnectionOptions): readonly OptionFault[] {
  const { namespace, connectionString, transport, proxy } = options;
  const faults: OptionFault[] = [];
  if (namespace === undefined && connectionString === undefined)
    faults.push({ key: 'namespace', message: 'is missing: set namespace or connectionString' });
  if (namespace !== undefined && connectionString !== undefined)
    faults.push({ key: 'connectionString', message: 'cannot be combined with namespace: set only one of them' });
  if (connectionString !== undefined && namespace === undefined) {
    const useless = CREDENTIAL_KEYS.filter((key) => options[key] !== undefined);
    faults.push(...useless.map((key) => ({ key, message: 'has no effect with connectionString: remove it' })));
  } else faults.push(...azureCredentialFaults(options));
  if (proxy !== undefined && transport !== 'websocket')
    faults.push({ key: 'proxy', message: 'needs transport: websocket, because proxies allow port 443' });
  return faults;
}

/** Returns the faults of open secrets. @param entity the configured queue or topic */
export function connectionSecretFaults(
  { connectionString, transport, proxy, tls }: ServiceBusConnectionOptions,
  entity: string,
): readonly OptionFault[] {
  const faults: OptionFault[] = [];
  if (connectionString !== undefined) {
    const read = connectionStringFor(connectionString.reveal(), { entity, transport });
    if ('fault' in read) faults.push({ key: 'connectionString', message: read.fault });
  }
  const wrong = proxy === undefined ? null : proxyFault(proxy);
  if (wrong !== null) faults.push({ key: 'proxy', message: wrong });
  return tls === undefined ? faults : [...faults, ...tlsFaults(tls, 'tls')];
}

/** Returns the namespace. @param options with open secrets, without faults. @throws Error if they have a fault */
export function namespaceOf({ namespace = '', connectionString }: ServiceBusConnectionOptions): {
  readonly endpoint: NamespaceEndpoint;
  readonly isEmulator: boolean;
} {
  const endpoint = parseEndpoint(namespace);
  const parsed =
    connectionString === undefined ? { endpoint, isEmulator: false } : parseConnectionString(connectionString.reveal());
  if ('fault' in parsed || parsed.endpoint === null) throw new Error('the namespace is not valid');
  return { endpoint: parsed.endpoint, isEmulator: parsed.isEmulator };
}

/** Returns a connection string for this queue or topic, or a fault without any of its text. */
export function connectionStringFor(
  text: string,
  { entity, transport }: { readonly entity: string; readonly transport: 'amqp' | 'websocket' },
): ConnectionString | { readonly fault: string } {
  const parsed = parseConnectionString(text);
  if ('fault' in parsed) return parsed;
  const { entityPath, isEmulator } = parsed;
  if (entityPath !== null && entityPath.toLowerCase() !== entity.toLowerCase())
    return {
      fault: `contains an EntityPath that is not ${entity}: use the string of this queue or topic, or of the namespace`,
    };
  if (isEmulator && transport === 'websocket')
    return { fault: 'is for the emulator, which has no WebSockets: set transport: amqp' };
  return parsed;
}

function isNamespace(text: string): boolean {
  const endpoint = parseEndpoint(text);
  return (
    endpoint !== null && (endpoint.host.includes('.') || endpoint.host.includes(':') || endpoint.host === 'localhost')
  );
}
