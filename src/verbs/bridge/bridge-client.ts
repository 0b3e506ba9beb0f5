// --bridge and --token-env, or the section `http` → one request to a bridge, without a proxy.

import { X509Certificate } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { ownUrlHost } from '../../formats/url-host.ts';
import { exchange, type HttpRequest } from '../../net/http-exchange.ts';
import { connectPinned } from '../../net/pinned-connection.ts';
import { isLoopback } from '../../net/private-addresses.ts';
import { fileReadFault, readRegularFile } from '../../secrets/regular-file.ts';
import type { SecretReference } from '../../secrets/secret.ts';
import { deadline } from '../../time/clock.ts';
import { needed, optionText, usageError, type VerbContext, type VerbOption } from '../verb.ts';

/** Bytes: far more than any answer of a bridge. */
const LONGEST_ANSWER = 1024 * 1024;

/** The address of a bridge with the default configuration. */
export const DEFAULT_BRIDGE = 'http://127.0.0.1:8700';

export interface BridgeRequest extends HttpRequest {
  /**
   * The exact certificate that the bridge must present; replaces the check of authority, name and dates. Called for
   * each request.
   */
  readonly certificate?: () => X509Certificate;
}

export interface BridgeAnswer {
  readonly status: number;
  readonly body: string;
}

/** Options of verbs that send requests to a bridge. */
export const BRIDGE_OPTIONS = {
  bridge: { type: 'string', value: 'URL', help: 'the URL of a bridge, such as http://127.0.0.1:8700' },
  'token-env': { type: 'string', value: 'NAME', help: 'with --bridge: the environment variable that holds the token' },
  'allow-insecure': {
    type: 'boolean',
    help: 'with --bridge: allows http:// beyond loopback, although others can read the token',
  },
} as const satisfies Readonly<Record<string, VerbOption>>;

/** @throws BridgeError BRIDGE_USAGE if both are given */
export function bridgeOrFile(context: VerbContext): { readonly bridge?: string; readonly file?: string } {
  const [bridge, file] = [optionText(context, 'bridge'), optionText(context, 'config')];
  if (bridge !== undefined && file !== undefined)
    throw usageError('--config and --bridge exclude each other: give one of them');
  return { ...(bridge !== undefined && { bridge }), ...(file !== undefined && { file }) };
}

/**
 * Returns the URL of a path on the bridge that --bridge names.
 * @throws BridgeError BRIDGE_USAGE if it is not a URL, or would send the token in clear text
 */
export function bridgeUrl(context: VerbContext, bridge: string, path: string): URL {
  const url = URL.parse(path, bridge);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw usageError('--bridge takes an http or https URL, such as http://127.0.0.1:8700');
  const isReadable = url.protocol === 'http:' && !isLoopback(url.hostname.replace(/^\[|\]$/g, ''));
  if (isReadable && optionText(context, 'token-env') !== undefined && context.values['allow-insecure'] !== true)
    throw usageError(
      `${url.origin} would receive the token in clear text: use https://, or --allow-insecure if you accept this`,
    );
  return url;
}

/** Returns the header with the token that --token-env names. @throws BridgeError BRIDGE_USAGE without a token */
export function authorization(context: VerbContext): { readonly Authorization: string } {
  const name = needed(context, 'token-env');
  const token = context.env[name];
  if (!token) throw usageError(`the environment variable ${name} is empty or not set: it must hold the token`);
  return { Authorization: `Bearer ${token}` };
}

type AskContext = Pick<VerbContext, 'deps' | 'signal'>;

/**
 * Follows no redirect. Rejects with the network's error, the signal's reason, or after `limitMs`. With `certificate`,
 * nothing is sent to any other server.
 */
export async function askBridge(
  { certificate, ...request }: BridgeRequest,
  context: AskContext,
  limitMs: number,
): Promise<BridgeAnswer> {
  using limit = deadline(
    context.deps,
    limitMs,
    () => new Error(`no answer within ${limitMs / 1000} s`),
    context.signal,
  );
  const socket = certificate && (await connectPinned(new URL(request.url), certificate(), limit.signal));
  try {
    const { status, body: answer } = await exchange({ ...request, socket }, LONGEST_ANSWER, limit.signal);
    if (answer === null) throw new Error('the answer is larger than 1 MiB');
    return { status, body: answer.toString() };
  } finally {
    socket?.destroy();
  }
}

type OwnHttp = Pick<Config['http'], 'listen' | 'health' | 'tls'>;

/**
 * Returns a request for `/readyz`, to `http.health` if it is configured.
 * @param file the configuration, for relative paths
 */
export function healthRequest({ listen, health, tls }: OwnHttp, file: string | undefined): BridgeRequest {
  return requestTo(health ?? listen, health === null ? tls : null, file, '/readyz');
}

/** Returns a GET of a path of `http.listen`. @param file the configuration, for relative paths */
export function ownRequest({ listen, tls }: OwnHttp, file: string, path: string): BridgeRequest {
  return requestTo(listen, tls, file, path);
}

function requestTo(
  { host, port }: OwnHttp['listen'],
  tls: OwnHttp['tls'],
  file: string | undefined,
  path: string,
): BridgeRequest {
  const url = `${tls === null ? 'http' : 'https'}://${ownUrlHost(host)}:${port}${path}`;
  const request = { method: 'GET', url, headers: {} } as const;
  // The certificate names the machine by its public name, not loopback, so the listener must present exactly this
  // certificate.
  return tls === null ? request : { ...request, certificate: () => certificateIn(tls.cert.reference, file) };
}

/**
 * Reads the file for each request, because the bridge serves a renewed certificate within a second. A certificate is
 * not a secret.
 */
function certificateIn(reference: SecretReference, file: string | undefined): X509Certificate {
  const text = certificateText(resolve(dirname(file ?? ''), 'file' in reference ? reference.file : ''));
  try {
    return new X509Certificate(text);
  } catch {
    // OpenSSL's message may quote a key.
    throw new Error('the file of http.tls.cert, which the bridge must present, has no certificate in PEM');
  }
}

function certificateText(path: string): string {
  try {
    return readRegularFile(path);
  } catch (error) {
    throw new Error(`the file of http.tls.cert, which the bridge must present, ${fileReadFault(error)}`, {
      cause: error,
    });
  }
}
