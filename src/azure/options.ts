// The options of an Entra ID identity → schema, and faults for each kind of credential. Pure.
import * as v from 'valibot';
import { pemFile } from '../net/tls-options.ts';
import { type EntriesOf, secret } from '../schema/pieces.ts';

const CREDENTIALS = [
  'default',
  'managed-identity',
  'workload-identity',
  'client-secret',
  'client-certificate',
  'azure-cli',
  'environment',
] as const;

export type AzureCredentialKind = (typeof CREDENTIALS)[number];

const named = (description: string) =>
  v.exactOptional(
    v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9.-]+$/, 'must be an id such as 00000000-0000-0000-0000-000000000000'),
      v.description(description),
    ),
  );

/** The keys of a mapping that configures an identity. */
export const azureCredentialEntries = {
  credential: v.exactOptional(
    v.pipe(
      v.picklist(CREDENTIALS),
      v.description(
        'How the bridge authenticates to Microsoft Entra ID. default tries the environment, workload identity, managed identity and ' +
          'developer tools in turn; a specific credential starts faster and has clearer errors. Default: default.',
      ),
    ),
  ),
  clientId: named(
    'Client id of a user-assigned managed identity or an application. Default: the system-assigned identity, or AZURE_CLIENT_ID.',
  ),
  tenantId: named('Tenant (directory) id. Default: AZURE_TENANT_ID.'),
  clientSecret: v.exactOptional(
    v.pipe(
      secret(),
      v.description("The application's secret, { env: NAME } or { file: PATH }, for credential client-secret."),
    ),
  ),
  certificate: v.exactOptional(
    pemFile(
      "PEM file of the application's certificate and private key, for credential client-certificate; read again when it changes.",
    ),
  ),
};

export interface AzureCredentialOptions extends EntriesOf<typeof azureCredentialEntries> {
  /**
   * The authority of a national cloud; absent: AZURE_AUTHORITY_HOST, or the public cloud. Not a key of the
   * configuration.
   */
  readonly authorityHost?: string;
}

const AUTHORITIES: readonly (readonly [host: RegExp, authorityHost: string])[] = [
  [/\.servicebus\.chinacloudapi\.cn\.?$/i, 'https://login.chinacloudapi.cn'],
  [/\.servicebus\.usgovcloudapi\.net\.?$/i, 'https://login.microsoftonline.us'],
  [/\.(?:monitor|eventgrid)\.azure\.cn\.?$/i, 'https://login.chinacloudapi.cn'],
  [/\.(?:monitor|eventgrid)\.azure\.us\.?$/i, 'https://login.microsoftonline.us'],
];

/**
 * Returns the authority of a Service Bus or Event Hubs namespace, of an Azure Monitor endpoint or of Event Grid, by its
 * host; empty except for national clouds.
 */
export function azureAuthorityOf(host: string): Pick<AzureCredentialOptions, 'authorityHost'> {
  const authorityHost = AUTHORITIES.find(([suffix]) => suffix.test(host))?.[1];
  return authorityHost === undefined ? {} : { authorityHost };
}

type Key = 'clientId' | 'tenantId' | 'clientSecret' | 'certificate';

/** The required and the optional keys of each kind. */
const KEYS: Readonly<Record<AzureCredentialKind, { readonly needs: readonly Key[]; readonly takes: readonly Key[] }>> =
  {
    default: { needs: [], takes: ['clientId', 'tenantId'] },
    'managed-identity': { needs: [], takes: ['clientId'] },
    'workload-identity': { needs: [], takes: ['clientId', 'tenantId'] },
    'client-secret': { needs: ['tenantId', 'clientId', 'clientSecret'], takes: [] },
    'client-certificate': { needs: ['tenantId', 'clientId', 'certificate'], takes: [] },
    'azure-cli': { needs: [], takes: ['tenantId'] },
    environment: { needs: [], takes: [] },
  };

/** Returns a fault for each missing key, and for each key that this kind does not use. */
export function azureCredentialFaults(
  options: AzureCredentialOptions,
): readonly { readonly key: Key; readonly message: string }[] {
  const kind = options.credential ?? 'default';
  const { needs, takes } = KEYS[kind];
  const missing = needs.filter((key) => options[key] === undefined);
  const keys: readonly Key[] = ['clientId', 'tenantId', 'clientSecret', 'certificate'];
  const useless = keys.filter((key) => options[key] !== undefined && !needs.includes(key) && !takes.includes(key));
  return [
    ...missing.map((key) => ({ key, message: `is missing: credential ${kind} needs ${needs.join(', ')}` })),
    ...useless.map((key) => ({
      key,
      message: `has no effect with credential ${kind}: remove it, or choose the credential that uses it`,
    })),
  ];
}
