// Configuration of a proxy's URL → the checked key, or a fault that does not quote it.
import * as v from 'valibot';
import { secret, withoutFault } from '../schema/pieces.ts';
import { reveal, Secret } from '../secrets/secret.ts';
import { addressJudge, judgeLiteral } from './private-addresses.ts';

const PROXY_FAULT = 'must be http://host:port or https://host:port, without a path, query or fragment';
const PROXY_CREDENTIALS = 'contains a user or password: set the whole URL as { env: NAME } or { file: PATH }';
const PROXY_ENCODING = 'contains a user or password with a % that is not percent-encoding: write it as %25';
const PROXY_METADATA = 'is an address of the metadata service, which is not a proxy';

/** The operator configured the proxy, so any address is allowed except the metadata service. */
export const judgeProxy = addressJudge(['0.0.0.0/0', '::/0']);

/** The schema of an optional key `proxy`: a URL or, with a user and password, a secret with the URL. */
export function proxyEntry(description: string) {
  const literal = v.pipe(v.string(), withoutFault(proxyFault));
  return v.exactOptional(
    v.pipe(v.union([literal, secret()], 'must be a URL, { env: NAME } or { file: PATH }'), v.description(description)),
  );
}

/** Returns the fault of the text or of the opened secret, or null. */
export function proxyFault(proxy: string | Secret): string | null {
  const text = reveal(proxy);
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return PROXY_FAULT;
  if (!(proxy instanceof Secret) && (url.username !== '' || url.password !== '')) return PROXY_CREDENTIALS;
  if (!isEncoded(url.username + url.password)) return PROXY_ENCODING;
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return PROXY_FAULT;
  return judgeLiteral(url, judgeProxy) === 'metadata' ? PROXY_METADATA : null;
}

/** Returns the checked proxy with its user and password. */
export function proxyUrl(proxy: string | Secret): URL {
  return new URL(reveal(proxy));
}

function isEncoded(text: string): boolean {
  try {
    return decodeURIComponent(text) !== null;
  } catch {
    return false;
  }
}
