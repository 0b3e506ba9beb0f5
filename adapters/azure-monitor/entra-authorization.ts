// An identity of Microsoft Entra ID → the header `authorization` of each request to Azure Monitor.
import { AzureCredential, type AzureCredentialDeps } from '../../src/azure/credential.ts';
import { azureTimeout } from '../../src/azure/fault.ts';
import { azureAuthorityOf } from '../../src/azure/options.ts';
import { BridgeError } from '../../src/errors.ts';
import { formatDuration } from '../../src/formats/durations.ts';
import type { Authorization } from '../http/authorization.ts';
import type { AzureMonitorOptions } from './azure-monitor-options.ts';

const SCHEME = 'Bearer ';
/** Each cloud takes tokens for its own. */
const RESOURCES: readonly (readonly [host: RegExp, resource: string])[] = [
  [/\.azure\.us\.?$/i, 'https://monitor.azure.us'],
  [/\.azure\.cn\.?$/i, 'https://monitor.azure.cn'],
];

/** What a token for this endpoint is asked for. */
export function scopeOf(host: string): string {
  const resource = RESOURCES.find(([suffix]) => suffix.test(host))?.[1] ?? 'https://monitor.azure.com';
  return `${resource}/.default`;
}

/** Asks at first use; keeps a token until shortly before its end. @param host of the endpoint, which tells the cloud */
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
        // The time limit of an attempt would else blame the endpoint, which was not asked yet.
        if (!signal.aborted || !(signal.reason instanceof BridgeError)) throw error;
        throw azureTimeout(place, options.credential ?? 'default', formatDuration(options.timeout));
      }
    },
    refused: (header) => credential.refused(scope, header.slice(SCHEME.length)),
    close: () => undefined,
  };
}
