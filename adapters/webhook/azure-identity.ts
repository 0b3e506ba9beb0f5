// The key `azure` → a token of Microsoft Entra ID for each request; its schema and its faults.
import * as v from 'valibot';
import { type AzureCredentialOptions, azureCredentialEntries, azureCredentialFaults } from '../../src/azure/options.ts';
import type { MappingFault } from '../../src/schema/pieces.ts';
import type { AdapterDeps } from '../adapter.ts';
import type { RequestAuthorization } from '../http/authorization.ts';
import { DropLimit } from '../http/drop-limit.ts';
import { entraAuthorization } from '../http/entra-authorization.ts';
import { holdsAuthorization, type OAuthOptions } from '../http/oauth/oauth-options.ts';

/** One scope (RFC 6749, section 3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
const SCOPE_FAULT = 'must be the scope of the receiver, such as https://eventgrid.azure.net/.default';

export const azureEntries = {
  azure: v.exactOptional(
    v.pipe(
      v.strictObject({
        ...azureCredentialEntries,
        scope: v.pipe(
          v.string(SCOPE_FAULT),
          v.regex(SCOPE, SCOPE_FAULT),
          v.description('The scope of the token: the receiver, such as https://eventgrid.azure.net/.default.'),
        ),
      }),
      v.description(
        'A bearer token of Microsoft Entra ID for every request, such as that of a managed identity. Not together with oauth2.',
      ),
    ),
  ),
};

interface AzureOptions extends OAuthOptions {
  readonly azure?: AzureCredentialOptions & { readonly scope: string };
  readonly headers: object;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Returns the faults of `azure`, alone and in combination with `oauth2` and `headers`. */
export function azureFaults({ azure, oauth2, headers }: AzureOptions): readonly MappingFault[] {
  if (azure === undefined) return [];
  const inKeys = azureCredentialFaults(azure).map(({ key, message }) => ({ path: ['azure', key] as const, message }));
  if (oauth2 !== undefined)
    return [...inKeys, { path: ['azure'], message: 'cannot be combined with oauth2: remove one of the two' }];
  if (!holdsAuthorization(headers)) return inKeys;
  return [...inKeys, { path: ['headers'], message: 'contains authorization, which azure sets: remove one of the two' }];
}

/** Returns the authorization of `azure`; undefined without this key. Loads the library of Azure at first use. */
export function azureAuthorization(
  { azure, timeout }: AzureOptions,
  host: string,
  deps: AdapterDeps,
): RequestAuthorization | undefined {
  if (azure === undefined) return undefined;
  const { scope, ...credential } = azure;
  const drops = new DropLimit(deps);
  return entraAuthorization(credential, deps, {
    scope,
    host,
    place: `sinks.${deps.name}.azure`,
    timeout,
    mayDrop: () => drops.take(),
  });
}
