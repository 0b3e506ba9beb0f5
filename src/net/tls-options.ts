// Configuration of TLS to a server → checked keys, and faults in the files.
import * as v from 'valibot';
import type { OptionsOf } from '../schema/pieces.ts';
import { Secret } from '../secrets/secret.ts';
import { type PemTexts, pemFaults, secureContext } from './certificates.ts';

const DNS_NAME = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z][a-z0-9-]{0,62}$/i;

/** The path of the file is public; its content is handled as a secret. */
export function pemFile(description: string) {
  return v.pipe(
    v.string(),
    v.minLength(1, 'must not be empty'),
    v.description(description),
    v.transform((file) => new Secret({ file })),
  );
}

interface TlsSectionWords {
  /** The server that gets the client certificate: `the receiver`. */
  readonly shownTo: string;
  /** The default for `serverName`: `the host of the url`. */
  readonly host: string;
}

export function tlsSection({ shownTo, host }: TlsSectionWords) {
  return v.pipe(
    v.strictObject({
      ca: v.exactOptional(
        pemFile('PEM file of the certificate authorities to trust, instead of those of the machine.'),
      ),
      cert: v.exactOptional(
        pemFile(`PEM file of the certificate, and its chain, that the bridge shows to ${shownTo}.`),
      ),
      key: v.exactOptional(pemFile('PEM file of the private key of cert, without a passphrase.')),
      serverName: v.exactOptional(
        v.pipe(
          v.string(),
          v.regex(DNS_NAME, 'must be a DNS name'),
          v.description(`The name to request, which the certificate must contain. Default: ${host}.`),
        ),
      ),
    }),
    v.forward(
      v.check((tls) => tls.cert === undefined || tls.key !== undefined, 'is missing: cert needs its private key'),
      ['key'],
    ),
    v.forward(
      v.check((tls) => tls.key === undefined || tls.cert !== undefined, 'is missing: key needs its certificate'),
      ['cert'],
    ),
  );
}

/** The trusted CAs and the client certificate of a connection. */
export type TlsOptions = OptionsOf<ReturnType<typeof tlsSection>>;

/** Returns the faults of the opened files, without quoting them. @param at the section with the files, such as `tls` */
export function tlsFaults(
  { ca, cert, key }: TlsOptions,
  at: string,
): readonly { readonly key: string; readonly message: string }[] {
  const texts: PemTexts = { ca: ca?.reveal(), cert: cert?.reveal(), key: key?.reveal() };
  const faults = pemFaults(texts, at);
  if (faults.length > 0) return faults;
  const context = secureContext(texts);
  return 'fault' in context ? [{ key: cert ? `${at}.cert` : `${at}.ca`, message: context.fault }] : [];
}
