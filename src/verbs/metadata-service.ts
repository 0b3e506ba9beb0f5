// --endpoint and --api-version → a client of the metadata service, for `events` and `approve`.
import { pino } from 'pino';
import { BridgeError } from '../errors.ts';
import { MetadataClient } from '../metadata/client.ts';
import { LINK_LOCAL_ENDPOINT } from '../metadata/discovery.ts';
import { isEndpoint } from '../metadata/options.ts';
import { API_VERSIONS } from '../model/api-versions.ts';
import { text, type VerbContext, type VerbOption } from './verb.ts';

export const DEFAULT_API_VERSION = '2020-07-01';
/** The service is switched on by the first request, whose answer can take 2 min. */
export const FIRST_TIMEOUT_MS = 130_000;

export const ENDPOINT_OPTION: VerbOption = { type: 'string', value: 'URL', help: `the metadata service (default ${LINK_LOCAL_ENDPOINT})` };

/** @throws BridgeError BRIDGE_USAGE where it is no http URL of host and port. */
export function endpointOption(context: VerbContext): string {
  const given = text(context, 'endpoint') ?? LINK_LOCAL_ENDPOINT;
  if (given === 'discover' || !isEndpoint(given)) {
    // Not shown: it may hold a password.
    throw new BridgeError('BRIDGE_USAGE', '--endpoint takes an http URL of host and port alone, such as http://127.0.0.1:8080');
  }
  return new URL(given).origin;
}

/** Any version that looks like one: the service knows which it speaks. @throws BridgeError BRIDGE_USAGE for anything else */
export function apiVersionOption(context: VerbContext): string {
  const version = text(context, 'api-version') ?? DEFAULT_API_VERSION;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(version)) {
    throw new BridgeError('BRIDGE_USAGE', `--api-version takes a version such as ${API_VERSIONS.join(', ')}, not "${version}"`);
  }
  return version;
}

/** A client that prints nothing: the verb reports. */
export function metadataClient(context: VerbContext, endpoint: string): MetadataClient {
  const options = {
    endpoint,
    apiVersion: DEFAULT_API_VERSION,
    pollIntervalMs: 1000,
    timeoutMs: FIRST_TIMEOUT_MS,
    firstTimeoutMs: FIRST_TIMEOUT_MS,
  };
  return new MetadataClient(options, { ...context.deps, logger: pino({ level: 'silent' }) });
}
