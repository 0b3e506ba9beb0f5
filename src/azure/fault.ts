// Errors of @azure/identity → BridgeErrors with credential and remedy, without secrets.
import { BridgeError, codeOf, messageOf } from '../errors.ts';
import { nameAdviceIn } from '../net/network-codes.ts';
import type { AzureCredentialKind } from './options.ts';

const ADVICE: Readonly<Record<AzureCredentialKind, string>> = {
  default:
    'set credential to the available one: managed-identity, workload-identity, client-secret, client-certificate or azure-cli',
  'managed-identity': 'assign a managed identity to this machine, and set clientId if it has several',
  'workload-identity':
    'use the service account that the identity is federated with (AZURE_CLIENT_ID, AZURE_TENANT_ID, AZURE_FEDERATED_TOKEN_FILE), or set clientId and tenantId',
  'client-secret': 'check tenantId and clientId, and that clientSecret is the value of a secret that has not expired',
  'client-certificate':
    'check tenantId and clientId, and that certificate is registered with the application and has not expired',
  'azure-cli': 'run `az login` as the user of the bridge',
  environment: 'set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET (or AZURE_CLIENT_CERTIFICATE_PATH)',
};

/**
 * Temporary failures: not available yet, overloaded or broken. 404 and 410 occur while an identity is being created.
 */
const TEMPORARY_STATUS = [404, 408, 410, 429, 500, 502, 503, 504];
const TEMPORARY_CODE =
  /^(ECONN(REFUSED|RESET|ABORTED)|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_\w+|E(HOST|NET)(UNREACH|DOWN)|EADDRNOTAVAIL|REQUEST_SEND_ERROR|network_error|temporarily_unavailable|(internal_)?server_error|too_many_requests)$/;
/** The library's message for an overloaded or broken metadata service; it omits the status. */
const TEMPORARY_TEXT = /Response had no "\w+" property|No response\./;
const LONGEST_REASON = 400;

/**
 * @param place the path of the credential, such as `sinks.stream.sasl`
 * @param secrets texts that must not appear in the message
 */
export function azureFault(
  error: unknown,
  place: string,
  kind: AzureCredentialKind,
  secrets: readonly string[],
): BridgeError {
  const chain = chainOf(error);
  // If several credentials were tried in turn, none of their errors is the cause alone.
  const isOfSeveral = chain.some((link) => link instanceof Error && 'errors' in link);
  const reason = reasonText(isOfSeveral ? '' : messageOf(chain.at(-1)), messageOf(error), secrets);
  const isTemporary = chain.some(
    (link) =>
      TEMPORARY_STATUS.includes(statusOf(link) ?? 0) ||
      TEMPORARY_CODE.test(codesOf(link)) ||
      TEMPORARY_TEXT.test(messageOf(link)),
  );
  const cause = new Error(reason);
  if (isTemporary) {
    const unresolved = nameAdviceIn(reason);
    const why = unresolved ?? `(${reason}): the bridge retries; if this continues, check the network path to it`;
    const message = `${place}: the credential ${kind} temporarily gave no token${unresolved === undefined ? ' ' : ': '}${why}`;
    return new BridgeError('BRIDGE_AZURE_UNAVAILABLE', message, { disposition: 'retry', scope: 'sink', cause });
  }
  const message = `${place}: the credential ${kind} gave no token (${reason}): ${ADVICE[kind]}`;
  return new BridgeError('BRIDGE_AZURE_REFUSED', message, { disposition: 'misconfigured', scope: 'sink', cause });
}

export function azureTimeout(place: string, kind: AzureCredentialKind, limit: string): BridgeError {
  const message = `${place}: the credential ${kind} gave no token within ${limit}: the bridge retries; if this continues, check the network path to it`;
  return new BridgeError('BRIDGE_AZURE_UNAVAILABLE', message, {
    disposition: 'retry',
    scope: 'sink',
    status: 'timeout',
  });
}

/** Returns the error and its causes; if several credentials were tried, those of each. */
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
  const own =
    link instanceof Error && 'errorCode' in link && typeof link.errorCode === 'string' ? link.errorCode : undefined;
  return codeOf(link) ?? own ?? '';
}

/** Returns the text between the first `from` and the next `to`, or null if one of them is missing. */
function between(text: string, from: string, to: string): string | null {
  const start = text.indexOf(from) + from.length;
  const end = text.indexOf(to, start);
  return start < from.length || end === -1 ? null : text.slice(start, end);
}

/** Returns the deepest reason, if it has a message, on one line. */
function reasonText(deepest: string, whole: string, secrets: readonly string[]): string {
  const text = (deepest.trim() === '' ? whole : deepest)
    .replaceAll(/\s+/g, ' ')
    .replace(/:? See https?:\S+ for details/, '')
    .trim();
  // The metadata service puts the useful part of its message after a fixed preamble.
  const useful = between(text, ' - Description: ', ' - Correlation ID: ') ?? text;
  const safe = secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), useful);
  return safe.length > LONGEST_REASON ? `${safe.slice(0, LONGEST_REASON)}…` : safe;
}
