// Configuration of an Entra ID identity → checked keys, by kind of credential. Pure.
import * as v from 'valibot';
import { pemFile } from '../net/tls-options.ts';
import { secret } from '../schema/pieces.ts';
import type { Secret } from '../secrets/secret.ts';

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

/** For a mapping that names an identity. */
export const azureCredentialEntries = {
  credential: v.exactOptional(
    v.pipe(
      v.picklist(CREDENTIALS),
      v.description(
        'How the bridge proves who it is to Microsoft Entra ID. default tries the environment, workload identity, managed identity and ' +
          'developer tools in turn; naming the one there is starts faster and fails more clearly. Default default.',
      ),
    ),
  ),
  clientId: named(
    'Client id of a user-assigned managed identity or an application. Default: the system-assigned identity, or AZURE_CLIENT_ID.',
  ),
  tenantId: named('Tenant (directory) id. Default: AZURE_TENANT_ID.'),
  clientSecret: v.exactOptional(
    v.pipe(secret(), v.description("The application's secret, { env: NAME } or { file: PATH }, for credential client-secret.")),
  ),
  certificate: v.exactOptional(
    pemFile("PEM file of the application's certificate and private key, for credential client-certificate; read again when it changes."),
  ),
};

/** What a credential is made from. */
export interface AzureCredentialOptions {
  /** `default` where absent. */
  readonly credential?: AzureCredentialKind;
  readonly clientId?: string;
  readonly tenantId?: string;
  readonly clientSecret?: Secret;
  readonly certificate?: Secret;
  /** Of a national cloud; absent: as AZURE_AUTHORITY_HOST says, else the public cloud's. No key of the configuration. */
  readonly authorityHost?: string;
}

const AUTHORITIES: readonly (readonly [host: RegExp, authorityHost: string])[] = [
  [/\.servicebus\.chinacloudapi\.cn\.?$/i, 'https://login.chinacloudapi.cn'],
  [/\.servicebus\.usgovcloudapi\.net\.?$/i, 'https://login.microsoftonline.us'],
  [/\.monitor\.azure\.cn\.?$/i, 'https://login.chinacloudapi.cn'],
  [/\.monitor\.azure\.us\.?$/i, 'https://login.microsoftonline.us'],
];

/** Who gives the tokens for a namespace of Service Bus or Event Hubs, or an endpoint of Azure Monitor, by its host; empty for the public cloud and hosts of no cloud. */
export function azureAuthorityOf(host: string): Pick<AzureCredentialOptions, 'authorityHost'> {
  const authorityHost = AUTHORITIES.find(([suffix]) => suffix.test(host))?.[1];
  return authorityHost === undefined ? {} : { authorityHost };
}

type Key = 'clientId' | 'tenantId' | 'clientSecret' | 'certificate';

/** What each kind must be given, and may be; it has no use for other keys. */
const KEYS: Readonly<Record<AzureCredentialKind, { readonly needs: readonly Key[]; readonly takes: readonly Key[] }>> = {
  default: { needs: [], takes: ['clientId', 'tenantId'] },
  'managed-identity': { needs: [], takes: ['clientId'] },
  'workload-identity': { needs: [], takes: ['clientId', 'tenantId'] },
  'client-secret': { needs: ['tenantId', 'clientId', 'clientSecret'], takes: [] },
  'client-certificate': { needs: ['tenantId', 'clientId', 'certificate'], takes: [] },
  'azure-cli': { needs: [], takes: ['tenantId'] },
  environment: { needs: [], takes: [] },
};

/** Each key that is missing, or that means nothing beside this kind of credential. */
export function azureCredentialFaults(options: AzureCredentialOptions): readonly { readonly key: Key; readonly message: string }[] {
  const kind = options.credential ?? 'default';
  const { needs, takes } = KEYS[kind];
  const missing = needs.filter((key) => options[key] === undefined);
  const keys: readonly Key[] = ['clientId', 'tenantId', 'clientSecret', 'certificate'];
  const useless = keys.filter((key) => options[key] !== undefined && !needs.includes(key) && !takes.includes(key));
  return [
    ...missing.map((key) => ({ key, message: `is missing: credential ${kind} needs ${needs.join(', ')}` })),
    ...useless.map((key) => ({ key, message: `means nothing to credential ${kind}: leave it out, or choose the credential that uses it` })),
  ];
}
