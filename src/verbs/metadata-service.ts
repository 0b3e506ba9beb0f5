// --endpoint and --api-version → a client of the metadata service, for `events` and `approve`.
import { pino } from 'pino';
import { MetadataClient } from '../metadata/client.ts';
import { LINK_LOCAL_ENDPOINT } from '../metadata/discovery.ts';
import { isEndpoint } from '../metadata/options.ts';
import { API_VERSIONS } from '../model/api-versions.ts';
import { optionText, usageError, type VerbContext, type VerbOption } from './verb.ts';

const DEFAULT_API_VERSION = '2020-07-01';
/** The first request enables the service; its answer can take 2 min. */
export const FIRST_TIMEOUT_MS = 130_000;

export const ENDPOINT_OPTION: VerbOption = {
  type: 'string',
  value: 'URL',
  help: `the metadata service (default ${LINK_LOCAL_ENDPOINT})`,
};

/** @throws BridgeError BRIDGE_USAGE if it is not an http URL with only host and port */
export function endpointOption(context: VerbContext): string {
  const given = optionText(context, 'endpoint') ?? LINK_LOCAL_ENDPOINT;
  if (given === 'discover' || !isEndpoint(given)) {
    // The value is not shown, because it may contain a password.
    throw usageError('--endpoint takes an http URL with only host and port, such as http://127.0.0.1:8080');
  }
  return new URL(given).origin;
}

/**
 * Accepts any value in the form of a version: the service decides which ones it supports.
 * @throws BridgeError BRIDGE_USAGE for anything else
 */
export function apiVersionOption(context: VerbContext): string {
  const version = optionText(context, 'api-version') ?? DEFAULT_API_VERSION;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(version))
    throw usageError(`--api-version takes a version such as ${API_VERSIONS.join(', ')}, not "${version}"`);
  return version;
}

/** Returns a client that does not log: the verb prints results and errors. */
export function metadataClient(context: VerbContext, endpoint: string, timeoutMs = FIRST_TIMEOUT_MS): MetadataClient {
  const options = {
    endpoint,
    apiVersion: DEFAULT_API_VERSION,
    pollIntervalMs: 1000,
    timeoutMs,
    firstTimeoutMs: timeoutMs,
  };
  return new MetadataClient(options, { ...context.deps, logger: pino({ level: 'silent' }) });
}
