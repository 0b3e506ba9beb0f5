// A credential of Microsoft Entra ID → the header `authorization` of each request.
import { AzureCredential, type AzureCredentialDeps } from '../../src/azure/credential.ts';
import { azureTimeout } from '../../src/azure/fault.ts';
import { azureAuthorityOf } from '../../src/azure/options.ts';
import { BridgeError } from '../../src/errors.ts';
import { formatDuration } from '../../src/formats/durations.ts';
import type { Authorization } from '../http/authorization.ts';
import type { AzureMonitorOptions } from './azure-monitor-options.ts';

const SCHEME = 'Bearer ';
/** Each cloud accepts only tokens for its own resource. */
const RESOURCES: readonly (readonly [host: RegExp, resource: string])[] = [
  [/\.azure\.us\.?$/i, 'https://monitor.azure.us'],
  [/\.azure\.cn\.?$/i, 'https://monitor.azure.cn'],
];

/** Returns the scope of a token for this endpoint's host. */
export function scopeOf(host: string): string {
  const resource = RESOURCES.find(([suffix]) => suffix.test(host))?.[1] ?? 'https://monitor.azure.com';
  return `${resource}/.default`;
}

/**
 * Requests a token at first use, and keeps it until shortly before it expires.
 * @param host the endpoint's host, which selects the cloud
 * @param place the path of the sink in the configuration, for messages
 */
export function entraAuthorization(
  options: Omit<AzureMonitorOptions, 'endpoint'>,
  host: string,
  deps: AzureCredentialDeps,
  place: string,
): Authorization {
  const credential = new AzureCredential({ ...options, ...azureAuthorityOf(host) }, deps, place);
  const scope = scopeOf(host);
  return {
    async header(signal) {
      try {
        return `${SCHEME}${(await credential.token(scope, signal)).token}`;
      } catch (error) {
        // Otherwise the attempt's time-out would blame the endpoint, which got no request yet.
        if (!signal.aborted || !(signal.reason instanceof BridgeError)) throw error;
        throw azureTimeout(place, options.credential ?? 'default', formatDuration(options.timeout));
      }
    },
    refused: (header) => credential.refused(scope, header.slice(SCHEME.length)),
    close: () => undefined,
  };
}
