// What node:http, TLS and DNS throw → BridgeErrors that say whom it hit and what to do.
import { BridgeError, codeOf, type ErrorCode, messageOf } from '../../src/errors.ts';

/** Codes of OpenSSL's verification and of node:tls, each with what to do; the first that matches speaks. */
const TLS: readonly (readonly [code: RegExp, advice: string])[] = [
  [/^CERT_HAS_EXPIRED$/, 'shows a certificate that has expired: renew it there; if it is new, set the clock of this machine'],
  [/^CERT_NOT_YET_VALID$/, 'shows a certificate that is not valid yet: set the clock of this machine, or mend the certificate'],
  [
    /^(ERR_TLS_CERT_ALTNAME_|HOSTNAME_MISMATCH$)/,
    'shows a certificate for another name: correct the host in the url, or give the name that it has in tls.serverName',
  ],
  [
    /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_UNTRUSTED$|CERT_SIGNATURE_FAILURE$|INVALID_CA$)/,
    'shows a certificate of an authority that this machine does not trust: check its certificate, or give the file of that authority in tls.ca',
  ],
  [/^CERT_REVOKED$/, 'shows a certificate that was revoked: replace it there'],
  [
    /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|NO_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_|UNKNOWN_CA|ACCESS_DENIED)/,
    'does not take the certificate of the bridge, or wants one: give what it trusts in tls.cert and tls.key',
  ],
  [
    /^(EPROTO$|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNKNOWN_PROTOCOL|BAD_RECORD_TYPE))/,
    'does not speak TLS there: check its certificate, the port, and whether the url is http://',
  ],
  [
    /^ERR_SSL_.*(PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS_AVAILABLE|HANDSHAKE_FAILURE|NO_SHARED_CIPHER|DH_KEY_TOO_SMALL)/,
    'and this machine agree on no TLS: it must speak TLS 1.2 or 1.3; it may also want a certificate of the bridge, tls.cert and tls.key',
  ],
  [
    /^(ERR_TLS_|ERR_SSL_|CERT_|INVALID_PURPOSE$|CRL_|PATH_LENGTH_)/,
    'does not prove by TLS who it is: check its certificate and the host in the url',
  ],
];
/** Faults of the way to the sink, whatever was sent. */
const UNREACHABLE = new Set([
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL', 'EACCES', 'EPERM', 'ETIMEDOUT'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME'],
]);

/** `who` names the sink and shows scheme and host. A BridgeError passes unchanged. */
export function networkFault(error: unknown, who: string): BridgeError {
  if (error instanceof BridgeError) return error;
  // Several addresses that fail come as one AggregateError, with the code of the first.
  const code = codeOf(error);
  const said = code ?? messageOf(error);
  const advice = code && TLS.find(([pattern]) => pattern.test(code))?.[1];
  if (advice) return fault('BRIDGE_WEBHOOK_TLS', `${who} ${advice} (${said})`, 'sink', error);
  if (code && UNREACHABLE.has(code)) {
    return fault(
      'BRIDGE_WEBHOOK_UNREACHABLE',
      `${who} cannot be reached (${said}): check that it runs, its name and the firewall`,
      'sink',
      error,
    );
  }
  return fault(
    'BRIDGE_WEBHOOK_BROKEN',
    `${who} broke off without an answer (${said}): it is tried again; if this lasts, look at the receiver`,
    'delivery',
    error,
  );
}

/** The time limit ran out; `limit` as the configuration writes it. */
export function timeoutFault(who: string, limit: string): BridgeError {
  return new BridgeError('BRIDGE_WEBHOOK_TIMEOUT', `${who} did not answer within ${limit}: look at the receiver, or raise timeout`, {
    disposition: 'retry',
    status: 'timeout',
  });
}

function fault(code: ErrorCode, message: string, scope: 'delivery' | 'sink', error: unknown): BridgeError {
  const status = codeOf(error);
  return new BridgeError(code, message, { disposition: 'retry', scope, cause: bare(error), ...(status === undefined ? {} : { status }) });
}

/** Without what a logger must not see: node hangs raw answer bytes and whole certificates on its errors. */
function bare(error: unknown): Error {
  return new Error(messageOf(error) || (codeOf(error) ?? 'unknown'));
}
