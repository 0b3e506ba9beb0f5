// --bridge and --token-env → one request to a bridge, past any proxy of the environment.
import type { X509Certificate } from 'node:crypto';
import { BridgeError } from '../../errors.ts';
import { exchange, type HttpRequest } from '../../net/http-exchange.ts';
import { connectPinned } from '../../net/pinned-connection.ts';
import { isLoopback } from '../../net/private-addresses.ts';
import { needed, text, type VerbContext, type VerbOption } from '../verb.ts';

/** Far above any answer of a bridge. */
const LONGEST_ANSWER = 1024 * 1024;

/** Where a bridge listens that is told nothing else. */
export const DEFAULT_BRIDGE = 'http://127.0.0.1:8700';

export interface BridgeRequest extends HttpRequest {
  /** The one that the bridge must show, in place of what authorities, its name and its dates say. Asked for with each request. */
  readonly certificate?: () => X509Certificate;
}

export interface BridgeAnswer {
  readonly status: number;
  readonly body: string;
}

/** For `options` of a verb. */
export const BRIDGE_OPTIONS = {
  bridge: { type: 'string', value: 'URL', help: 'a bridge, such as http://127.0.0.1:8700' },
  'token-env': { type: 'string', value: 'NAME', help: 'with --bridge: the environment variable that holds the token' },
  'allow-insecure': { type: 'boolean', help: 'with --bridge: http:// beyond loopback, where others can read the token' },
} as const satisfies Readonly<Record<string, VerbOption>>;

/** A path of the bridge that --bridge names. @throws BridgeError BRIDGE_USAGE for no URL, or one over which a token would go in clear text */
export function bridgeUrl(context: VerbContext, bridge: string, path: string): URL {
  const url = URL.parse(path, bridge);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new BridgeError('BRIDGE_USAGE', '--bridge takes an http or https URL, such as http://127.0.0.1:8700');
  }
  const mayBeRead = url.protocol === 'http:' && !isLoopback(url.hostname.replace(/^\[|\]$/g, ''));
  if (mayBeRead && text(context, 'token-env') !== undefined && context.values['allow-insecure'] !== true) {
    throw new BridgeError(
      'BRIDGE_USAGE',
      `${url.origin} would get the token in clear text: use https://, or --allow-insecure if that is what you want`,
    );
  }
  return url;
}

/** The header with the token that --token-env names. @throws BridgeError BRIDGE_USAGE where there is none */
export function authorization(context: VerbContext): { readonly Authorization: string } {
  const name = needed(context, 'token-env');
  const token = context.env[name];
  if (!token) throw new BridgeError('BRIDGE_USAGE', `the environment variable ${name}, which should hold the token, is empty or not set`);
  return { Authorization: `Bearer ${token}` };
}

/** Follows no redirect. Rejects with what the network says, or with the signal's reason; then nothing was sent to whoever is not the bridge. */
export async function askBridge({ certificate, ...request }: BridgeRequest, signal: AbortSignal): Promise<BridgeAnswer> {
  const socket = certificate && (await connectPinned(new URL(request.url), certificate(), signal));
  try {
    const { status, body: answer } = await exchange({ ...request, socket }, LONGEST_ANSWER, signal);
    if (answer === null) throw new Error('the answer is larger than 1 MiB');
    return { status, body: answer.toString() };
  } finally {
    socket?.destroy();
  }
}

/** As `askBridge`, with a JSON body. */
export function postJson(url: URL, headers: Readonly<Record<string, string>>, body: object, signal: AbortSignal): Promise<BridgeAnswer> {
  const all = { ...headers, 'Content-Type': 'application/json' };
  return askBridge({ method: 'POST', url, headers: all, body: JSON.stringify(body) }, signal);
}
