// Configuration of a proxy's URL → the checked key, or a fault that repeats none of it.
import * as v from 'valibot';
import { secret, withoutFault } from '../schema/pieces.ts';
import { reveal, Secret } from '../secrets/secret.ts';
import { addressJudge, judgeLiteral } from './private-addresses.ts';

const PROXY_FAULT = 'must be http://host:port or https://host:port, and nothing behind it';
const PROXY_CREDENTIALS = 'holds a user or password: give the whole URL as { env: NAME } or { file: PATH }';
const PROXY_ENCODING = 'holds a user or password with a % that is none of percent-encoding: write it as %25';
const PROXY_METADATA = 'is an address of the metadata service, which is no proxy';

/** The operator named the proxy, so it may be anywhere but at the metadata service. */
export const judgeProxy = addressJudge(['0.0.0.0/0', '::/0']);

/** An optional key `proxy`: a URL or, with a user and password, a secret that holds one. */
export function proxyEntry(description: string) {
  const literal = v.pipe(v.string(), withoutFault(proxyFault));
  return v.exactOptional(
    v.pipe(v.union([literal, secret()], 'must be a URL, { env: NAME } or { file: PATH }'), v.description(description)),
  );
}

/** Of the text or, once it is open, of the secret; null where nothing is wrong. */
export function proxyFault(proxy: string | Secret): string | null {
  const text = reveal(proxy);
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return PROXY_FAULT;
  if (!(proxy instanceof Secret) && (url.username !== '' || url.password !== '')) return PROXY_CREDENTIALS;
  if (!isEncoded(url.username + url.password)) return PROXY_ENCODING;
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return PROXY_FAULT;
  return judgeLiteral(url, judgeProxy) === 'metadata' ? PROXY_METADATA : null;
}

/** The checked proxy with its user and password. */
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
