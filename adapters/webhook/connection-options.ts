// What the configuration says of connections → its keys: TLS files, the server's name and a proxy; and what is wrong with their values.
import * as v from 'valibot';
import { secret } from '../../src/options.ts';
import { addressJudge } from '../../src/private-addresses.ts';
import { reveal, Secret } from '../../src/secret.ts';
import { type TlsOptions, tlsFaults, tlsSection } from '../../src/tls-options.ts';
import type { OptionFault } from '../adapter.ts';
import { hostOf } from './exchange.ts';

const PROXY_FAULT = 'must be http://host:port or https://host:port, and nothing behind it';
const PROXY_CREDENTIALS = 'holds a user or password: give the whole URL as { env: NAME } or { file: PATH }';
const PROXY_ENCODING = 'holds a user or password with a % that is none of percent-encoding: write it as %25';
const PROXY_METADATA = 'is an address of the metadata service, which is no proxy';

/** The operator named the proxy, so it may be anywhere but at the metadata service. */
export const judgeProxy = addressJudge(['0.0.0.0/0', '::/0']);

export const connectionEntries = {
  tls: v.exactOptional(
    v.pipe(
      tlsSection({ shownTo: 'the receiver', host: 'the host of the url' }),
      v.description('TLS of the connection to an https:// url. The files are read again when they change.'),
    ),
  ),
  proxy: v.exactOptional(
    v.pipe(
      v.union(
        [
          v.pipe(
            v.string(),
            v.check((text) => proxyFault(text) !== PROXY_CREDENTIALS, PROXY_CREDENTIALS),
            v.check((text) => [null, PROXY_CREDENTIALS].includes(proxyFault(text)), PROXY_FAULT),
          ),
          secret(),
        ],
        'must be a URL, { env: NAME } or { file: PATH }',
      ),
      v.description('An HTTP proxy that connects to the url by CONNECT: http://host:port. With a user and password only as a secret.'),
    ),
  ),
};

/** What the parts of a connection are made from. */
export interface ConnectionOptions {
  readonly tls?: TlsOptions;
  readonly proxy?: string | Secret;
}

/** What shows once files and secrets are open. `url` is null where it is at fault itself. */
export function connectionFaults({ tls, proxy }: ConnectionOptions, url: URL | null): readonly OptionFault[] {
  const faults: OptionFault[] = tls === undefined ? [] : [...tlsFaults(tls, 'tls')];
  if (proxy !== undefined) {
    const fault = proxyFault(reveal(proxy), proxy instanceof Secret) ?? metadataFault(proxyUrl(proxy));
    if (fault !== null) return [...faults, { key: 'proxy', message: fault }];
  }
  const isTls = url?.protocol !== 'http:' || (proxy !== undefined && proxyUrl(proxy).protocol === 'https:');
  if (tls !== undefined && !isTls) faults.push({ key: 'tls', message: 'means nothing for an http:// url: use https://, or leave it out' });
  return faults;
}

/** The checked proxy with its user and password. */
export function proxyUrl(proxy: string | Secret): URL {
  return new URL(reveal(proxy));
}

/** Says what is wrong without repeating any of it; null where nothing is. */
function proxyFault(text: string, mayHoldCredentials = false): string | null {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return PROXY_FAULT;
  if (!mayHoldCredentials && (url.username !== '' || url.password !== '')) return PROXY_CREDENTIALS;
  if (!isEncoded(url.username + url.password)) return PROXY_ENCODING;
  return url.pathname === '/' && url.search === '' && url.hash === '' ? null : PROXY_FAULT;
}

function isEncoded(text: string): boolean {
  try {
    return decodeURIComponent(text) !== null;
  } catch {
    return false;
  }
}

function metadataFault(url: URL): string | null {
  const host = hostOf(url);
  return process.getBuiltinModule('node:net').isIP(host) !== 0 && judgeProxy(host) === 'metadata' ? PROXY_METADATA : null;
}
