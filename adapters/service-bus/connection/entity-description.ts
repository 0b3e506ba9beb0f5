// A queue or topic → its description by Service Bus's management interface, if permitted.
import { createHmac } from 'node:crypto';
import { exchange } from '../../../src/net/http-exchange.ts';
import type { Deps } from '../../../src/time/clock.ts';
import { showEndpoint } from '../options/connection-string.ts';
import type { BusCredential, NamespaceAccess, Target } from './access.ts';
import { TOKEN_SCOPE } from './service-bus-client.ts';

export interface EntityDescription {
  readonly hasDuplicateDetection: boolean;
  /** ISO 8601, such as `PT10M`; null if absent. */
  readonly duplicateWindow: string | null;
  readonly requiresSession: boolean;
}

const LARGEST_ANSWER_BYTES = 256 * 1024;
const TOKEN_SECONDS = 300;

/**
 * Resolves with null if the service gives no description, usually because a right is missing.
 * @throws what Node throws, a BridgeError, or the signal's reason
 */
export async function describeEntity(
  access: NamespaceAccess,
  target: Target,
  path: string,
  deps: Pick<Deps, 'wallMs'>,
  signal: AbortSignal,
): Promise<EntityDescription | null> {
  const host = showEndpoint({ host: target.endpoint.host, port: null });
  const authorization = await authorizationOf(
    target.credential,
    `https://${host}/${path}`.toLowerCase(),
    deps.wallMs(),
    signal,
  );
  const socket = await access.managementConnector(target)(signal);
  try {
    const url = `http://${host}/${path.split('/').map(encodeURIComponent).join('/')}?api-version=2021-05`;
    const { status, body } = await exchange(
      { method: 'GET', url, headers: { authorization }, socket },
      LARGEST_ANSWER_BYTES,
      signal,
    );
    return status === 200 && body !== null ? read(body.toString()) : null;
  } finally {
    socket.destroy();
  }
}

const ELEMENT = /<(RequiresDuplicateDetection|DuplicateDetectionHistoryTimeWindow|RequiresSession)>([^<]{1,64})<\/\1>/g;

function read(xml: string): EntityDescription | null {
  const elements = [...xml.matchAll(ELEMENT)];
  const textIn = (wanted: string) => elements.find(([, name]) => name === wanted)?.[2] ?? null;
  const duplicates = textIn('RequiresDuplicateDetection');
  if (duplicates === null) return null;
  return {
    hasDuplicateDetection: duplicates === 'true',
    duplicateWindow: textIn('DuplicateDetectionHistoryTimeWindow'),
    requiresSession: textIn('RequiresSession') === 'true',
  };
}

async function authorizationOf(
  credential: BusCredential,
  resource: string,
  wallMs: number,
  signal: AbortSignal,
): Promise<string> {
  if ('token' in credential) return `Bearer ${(await credential.token(TOKEN_SCOPE, signal)).token}`;
  if ('signature' in credential) return credential.signature;
  const [scope, name] = [encodeURIComponent(resource), encodeURIComponent(credential.name)];
  const expiry = Math.floor(wallMs / 1000) + TOKEN_SECONDS;
  const signature = createHmac('sha256', credential.key).update(`${scope}\n${expiry}`).digest('base64');
  return `SharedAccessSignature sr=${scope}&sig=${encodeURIComponent(signature)}&se=${expiry}&skn=${name}`;
}
