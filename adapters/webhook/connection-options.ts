// What the configuration says of connections → its keys: TLS files, the server's name and a proxy; and what is wrong with their values.
import * as v from 'valibot';
import { proxyEntry, proxyFault, proxyUrl } from '../../src/net/proxy-url.ts';
import { type TlsOptions, tlsFaults, tlsSection } from '../../src/net/tls-options.ts';
import type { Secret } from '../../src/secrets/secret.ts';
import type { OptionFault } from '../adapter.ts';

export const connectionEntries = {
  tls: v.exactOptional(
    v.pipe(
      tlsSection({ shownTo: 'the receiver', host: 'the host of the url' }),
      v.description('TLS of the connection to an https:// url. The files are read again when they change.'),
    ),
  ),
  proxy: proxyEntry('An HTTP proxy that connects to the url by CONNECT: http://host:port. With a user and password only as a secret.'),
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
    const fault = proxyFault(proxy);
    if (fault !== null) return [...faults, { key: 'proxy', message: fault }];
  }
  const isTls = url?.protocol !== 'http:' || (proxy !== undefined && proxyUrl(proxy).protocol === 'https:');
  if (tls !== undefined && !isTls) faults.push({ key: 'tls', message: 'means nothing for an http:// url: use https://, or leave it out' });
  return faults;
}
