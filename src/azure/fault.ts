// Errors of @azure/identity → BridgeErrors that name credential and remedy, without a secret.

import { BridgeError, codeOf, messageOf } from '../errors.ts';
import type { AzureCredentialKind } from './options.ts';

const ADVICE: Readonly<Record<AzureCredentialKind, string>> = {
  default: 'name the one there is by credential: managed-identity, workload-identity, client-secret, client-certificate or azure-cli',
  'managed-identity': 'assign a managed identity to this machine, and name it by clientId where it has several',
  'workload-identity':
    'run with the service account that the identity is federated with (AZURE_CLIENT_ID, AZURE_TENANT_ID, AZURE_FEDERATED_TOKEN_FILE), or give clientId and tenantId',
  'client-secret': 'check tenantId and clientId, and that clientSecret is the value of a secret that has not expired',
  'client-certificate': 'check tenantId and clientId, and that certificate is registered with the application and has not expired',
  'azure-cli': 'log in with `az login` as the user that the bridge runs as',
  environment: 'set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET (or AZURE_CLIENT_CERTIFICATE_PATH)',
};

/** Not yet there, overloaded or broken: it may be well in a moment. 404 and 410 are said while an identity is being set up. */
const PASSING_STATUS = [404, 408, 410, 429, 500, 502, 503, 504];
const PASSING_CODE =
  /^(ECONN(REFUSED|RESET|ABORTED)|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_\w+|E(HOST|NET)(UNREACH|DOWN)|EADDRNOTAVAIL|REQUEST_SEND_ERROR|network_error|temporarily_unavailable|(internal_)?server_error|too_many_requests)$/;
/** The library's text for an overloaded or broken metadata service; it does not pass the status on. */
const PASSING_TEXT = /Response had no "\w+" property|No response\./;
const LONGEST_REASON = 400;

/** `place` names the credential's owner: `sinks.stream.sasl`. `secrets` are texts that must not show. */
export function azureFault(error: unknown, place: string, kind: AzureCredentialKind, secrets: readonly string[]): BridgeError {
  const chain = chainOf(error);
  // Of several that were tried in turn none is the one to blame.
  const isOfSeveral = chain.some((link) => link instanceof Error && 'errors' in link);
  const reason = shown(isOfSeveral ? '' : messageOf(chain.at(-1)), messageOf(error), secrets);
  const isPassing = chain.some(
    (link) => PASSING_STATUS.includes(statusOf(link) ?? 0) || PASSING_CODE.test(codesOf(link)) || PASSING_TEXT.test(messageOf(link)),
  );
  const cause = new Error(reason);
  if (isPassing) {
    const message = `${place}: the credential ${kind} gave no token for now (${reason}): it is tried again; if this lasts, look at the way there`;
    return new BridgeError('BRIDGE_AZURE_UNAVAILABLE', message, { disposition: 'retry', scope: 'sink', cause });
  }
  const message = `${place}: the credential ${kind} gave no token (${reason}): ${ADVICE[kind]}`;
  return new BridgeError('BRIDGE_AZURE_REFUSED', message, { disposition: 'misconfigured', scope: 'sink', cause });
}

/** The time ran out. */
export function azureTimeout(place: string, kind: AzureCredentialKind, limit: string): BridgeError {
  const message = `${place}: the credential ${kind} gave no token within ${limit}: it is tried again; if this lasts, look at the way there`;
  return new BridgeError('BRIDGE_AZURE_UNAVAILABLE', message, { disposition: 'retry', scope: 'sink', status: 'timeout' });
}

/** The error and its causes; of several tried in turn those of each. */
function chainOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  const add = (link: unknown) => {
    if (link === undefined || link === null || chain.includes(link) || chain.length > 20) return;
    chain.push(link);
    if (!(link instanceof Error)) return;
    if ('errors' in link && Array.isArray(link.errors)) link.errors.forEach(add);
    add(link.cause);
  };
  add(error);
  return chain;
}

function statusOf(link: unknown): number | undefined {
  if (!(link instanceof Error)) return undefined;
  const status = 'statusCode' in link ? link.statusCode : 'status' in link ? link.status : undefined;
  return typeof status === 'number' ? status : undefined;
}

function codesOf(link: unknown): string {
  const own = link instanceof Error && 'errorCode' in link && typeof link.errorCode === 'string' ? link.errorCode : undefined;
  return codeOf(link) ?? own ?? '';
}

/** What stands between the first `from` and the next `to`; null if one of them is missing. */
function between(text: string, from: string, to: string): string | null {
  const start = text.indexOf(from) + from.length;
  const end = text.indexOf(to, start);
  return start < from.length || end === -1 ? null : text.slice(start, end);
}

/** One line, the deepest reason where it says anything. */
function shown(deepest: string, whole: string, secrets: readonly string[]): string {
  const text = (deepest.trim() === '' ? whole : deepest)
    .replaceAll(/\s+/g, ' ')
    .replace(/:? See https?:\S+ for details/, '')
    .trim();
  // Of what the metadata service says, past a dozen words that stand for nothing.
  const told = between(text, ' - Description: ', ' - Correlation ID: ') ?? text;
  const safe = secrets.filter((secret) => secret !== '').reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), told);
  return safe.length > LONGEST_REASON ? `${safe.slice(0, LONGEST_REASON)}…` : safe;
}
