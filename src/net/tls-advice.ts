// A TLS error code of OpenSSL or Node → what is wrong, and what to do.

/** How the configuration of the one who connects calls things. */
export interface TlsWords {
  /** Where the other side's host stands: `the url`. */
  readonly target: string;
  /** The key that holds the certificates' files: `tls`. */
  readonly section: string;
  /** What says that there is no TLS: `the url is http://`. */
  readonly plain: string;
}

type Advice = (words: TlsWords) => string;

/** The first that matches speaks. */
const ADVICE: readonly (readonly [code: RegExp, advice: Advice])[] = [
  [/^CERT_HAS_EXPIRED$/, () => 'shows a certificate that has expired: renew it there; if it is new, set the clock of this machine'],
  [/^CERT_NOT_YET_VALID$/, () => 'shows a certificate that is not valid yet: set the clock of this machine, or mend the certificate'],
  [
    /^(ERR_TLS_CERT_ALTNAME_|HOSTNAME_MISMATCH$)/,
    ({ target, section }) =>
      `shows a certificate for another name: correct the host in ${target}, or give the name that it has in ${section}.serverName`,
  ],
  [
    /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_UNTRUSTED$|CERT_SIGNATURE_FAILURE$|INVALID_CA$)/,
    ({ section }) =>
      `shows a certificate of an authority that this machine does not trust: check its certificate, or give the file of that authority in ${section}.ca`,
  ],
  [/^CERT_REVOKED$/, () => 'shows a certificate that was revoked: replace it there'],
  [
    /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|NO_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_|UNKNOWN_CA|ACCESS_DENIED)/,
    ({ section }) => `does not take the certificate of the bridge, or wants one: give what it trusts in ${section}.cert and ${section}.key`,
  ],
  [
    /^(EPROTO$|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNKNOWN_PROTOCOL|BAD_RECORD_TYPE))/,
    ({ plain }) => `does not speak TLS there: check its certificate, the port, and whether ${plain}`,
  ],
  [
    /^ERR_SSL_.*(PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS_AVAILABLE|HANDSHAKE_FAILURE|NO_SHARED_CIPHER|DH_KEY_TOO_SMALL)/,
    ({ section }) =>
      `and this machine agree on no TLS: it must speak TLS 1.2 or 1.3; it may also want a certificate of the bridge, ${section}.cert and ${section}.key`,
  ],
  [
    /^(ERR_TLS_|ERR_SSL_|CERT_|INVALID_PURPOSE$|CRL_|PATH_LENGTH_)/,
    ({ target }) => `does not prove by TLS who it is: check its certificate and the host in ${target}`,
  ],
];

/** Goes on from whom it was that failed: `BROKER shows a certificate …`. Undefined where the code is not one of TLS. */
export function tlsAdvice(code: string, words: TlsWords): string | undefined {
  return ADVICE.find(([pattern]) => pattern.test(code))?.[1](words);
}
