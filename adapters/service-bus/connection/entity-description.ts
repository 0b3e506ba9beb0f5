// A queue or topic, and rights to manage it → what the management interface tells of it (Service Bus REST API 2021-05), where it does.
import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Deps } from '../../../src/time/clock.ts';
import { showEndpoint } from '../options/connection-string.ts';
import type { Access, BusCredential, Target } from './access.ts';
import { SCOPE } from './service-bus-client.ts';

export interface EntityDescription {
  readonly hasDuplicateDetection: boolean;
  /** ISO 8601, such as `PT10M`; null where the answer has none. */
  readonly duplicateWindow: string | null;
  readonly requiresSession: boolean;
}

const LARGEST_ANSWER_BYTES = 256 * 1024;
const TOKEN_SECONDS = 300;

/** Null where it is not told: not enough rights, mostly. @throws what node throws, a BridgeError, or the signal's reason. */
export async function describeEntity(
  access: Access,
  target: Target,
  path: string,
  deps: Pick<Deps, 'wallMs'>,
  signal: AbortSignal,
): Promise<EntityDescription | null> {
  const host = showEndpoint({ host: target.endpoint.host, port: null });
  const authorization = await authorizationOf(target.credential, `https://${host}/${path}`.toLowerCase(), deps.wallMs(), signal);
  const socket = await access.managementConnector(target)(signal);
  const request = process.getBuiltinModule('node:http').request({
    createConnection: () => socket,
    path: `/${path.split('/').map(encodeURIComponent).join('/')}?api-version=2021-05`,
    headers: { host, authorization },
    signal,
  });
  try {
    request.end();
    const answer = await new Promise<IncomingMessage>((resolve, reject) => request.on('response', resolve).on('error', reject));
    return answer.statusCode === 200 ? read(await textOf(answer)) : null;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    request.destroy();
    socket.destroy();
  }
}

function read(xml: string): EntityDescription | null {
  const textIn = (name: string) => new RegExp(`<${name}>([^<]{1,64})</${name}>`).exec(xml)?.[1] ?? null;
  const duplicates = textIn('RequiresDuplicateDetection');
  if (duplicates === null) return null;
  return {
    hasDuplicateDetection: duplicates === 'true',
    duplicateWindow: textIn('DuplicateDetectionHistoryTimeWindow'),
    requiresSession: textIn('RequiresSession') === 'true',
  };
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST_ANSWER_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

async function authorizationOf(credential: BusCredential, resource: string, wallMs: number, signal: AbortSignal): Promise<string> {
  if ('token' in credential) return `Bearer ${(await credential.token(SCOPE, signal)).token}`;
  if ('signature' in credential) return credential.signature;
  const [scope, name] = [encodeURIComponent(resource), encodeURIComponent(credential.name)];
  const expiry = Math.floor(wallMs / 1000) + TOKEN_SECONDS;
  const signature = createHmac('sha256', credential.key).update(`${scope}\n${expiry}`).digest('base64');
  return `SharedAccessSignature sr=${scope}&sig=${encodeURIComponent(signature)}&se=${expiry}&skn=${name}`;
}
