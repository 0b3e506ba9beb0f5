// A TLS error code of OpenSSL or Node → the cause, and what to do.

/** The terms of the caller's configuration, for messages. */
export interface TlsWords {
  /** The key with the server's host: `the url`. */
  readonly target: string;
  /** The section with the certificate files: `tls`. */
  readonly section: string;
  /** The setting without TLS: `the url is http://`. */
  readonly plain: string;
}

type Advice = (words: TlsWords) => string;

/** The first match applies. */
const ADVICE: readonly (readonly [code: RegExp, advice: Advice])[] = [
  [
    /^CERT_HAS_EXPIRED$/,
    () => 'shows a certificate that has expired: renew it there; if it is new, correct the clock of this machine',
  ],
  [
    /^CERT_NOT_YET_VALID$/,
    () => 'shows a certificate that is not valid yet: correct the clock of this machine, or replace the certificate',
  ],
  [
    /^(ERR_TLS_CERT_ALTNAME_|HOSTNAME_MISMATCH$)/,
    ({ target, section }) =>
      `shows a certificate for another name: correct the host in ${target}, or set ${section}.serverName to the name in the certificate`,
  ],
  [
    /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_UNTRUSTED$|CERT_SIGNATURE_FAILURE$|INVALID_CA$)/,
    ({ section }) =>
      `shows a certificate from a CA that this machine does not trust: check the certificate, or set ${section}.ca to the file of that CA`,
  ],
  [/^CERT_REVOKED$/, () => 'shows a revoked certificate: replace it there'],
  [
    /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|NO_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_|UNKNOWN_CA|ACCESS_DENIED)/,
    ({ section }) =>
      `rejects the certificate of the bridge, or requires one: set ${section}.cert and ${section}.key to a certificate that it trusts`,
  ],
  [
    /^(EPROTO$|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNKNOWN_PROTOCOL|BAD_RECORD_TYPE))/,
    ({ plain }) => `does not use TLS at this port: check its certificate, the port, and whether ${plain}`,
  ],
  [
    /^ERR_SSL_.*(PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS_AVAILABLE|HANDSHAKE_FAILURE|NO_SHARED_CIPHER|DH_KEY_TOO_SMALL)/,
    ({ section }) =>
      `and this machine have no TLS version or cipher in common: it must support TLS 1.2 or 1.3; it may also require a certificate of the bridge, ${section}.cert and ${section}.key`,
  ],
  [
    /^(ERR_TLS_|ERR_SSL_|CERT_|INVALID_PURPOSE$|CRL_|PATH_LENGTH_)/,
    ({ target }) => `cannot be verified over TLS: check its certificate and the host in ${target}`,
  ],
];

/**
 * Returns the message after the name of the server: `BROKER shows a certificate …`. Undefined if the code is not a TLS
 * error.
 */
export function tlsAdvice(code: string, words: TlsWords): string | undefined {
  return ADVICE.find(([pattern]) => pattern.test(code))?.[1](words);
}
