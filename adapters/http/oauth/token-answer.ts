// The answer of a token endpoint → an access token and its lifetime, or a failure (RFC 6749).
import { BridgeError, type BridgeErrorDetails } from '../../../src/errors.ts';
import { parseRetryAfter } from '../../../src/formats/dates.ts';
import type { HttpAnswer } from '../../../src/net/http-exchange.ts';
import { type HttpPlace, whoOf } from '../failures.ts';
import { jsonMembers } from '../json-body.ts';

/** Maximum length of an answer in bytes; a longer one contains no token. */
export const LONGEST_TOKEN_ANSWER = 64 * 1024;

interface AccessToken {
  /** Valid in a header (RFC 6750, section 2.1). */
  readonly token: string;
  readonly lifetimeMs: number;
}

/** Without `expires_in`, which is only recommended. If the token expires earlier, the receiver answers 401. */
const DEFAULT_LIFETIME_S = 5 * 60;
const LONGEST_LIFETIME_S = 24 * 60 * 60;
const B64TOKEN = /^[A-Za-z0-9._~+/-]{1,16384}=*$/;

/** The errors that may be shown, with their remedies. Any other text might contain a secret. */
const ERRORS: Readonly<Record<string, string>> = {
  invalid_client: 'check oauth2.clientId and oauth2.clientSecret, or try clientAuth: post',
  unauthorized_client: 'allow this client the grant client_credentials there',
  unsupported_grant_type: 'allow the grant client_credentials there',
  invalid_scope: 'check oauth2.scope',
  invalid_target: 'check oauth2.audience',
  invalid_grant: 'check oauth2.clientId and oauth2.clientSecret',
  invalid_request: 'check oauth2.scope and oauth2.audience, or try clientAuth: post',
  access_denied: 'allow this client the configured oauth2.scope and oauth2.audience there',
};
/** Temporary errors, regardless of the status. */
const PASSING = new Set(['temporarily_unavailable', 'server_error', 'slow_down']);

/** @param wallMs the current time, for a Retry-After date */
export function readToken(
  { status, headers, body }: HttpAnswer,
  place: HttpPlace,
  wallMs: number,
): AccessToken | BridgeError {
  const who = whoOf(place);
  const members = jsonMembers(body);
  if (status >= 200 && status <= 299) return granted(members, place, status);
  const error = typeof members['error'] === 'string' ? members['error'] : '';
  const isPassing = PASSING.has(error);
  if (isPassing || status < 300 || status >= 500 || status === 408 || status === 425 || status === 429) {
    const retryAfterMs = parseRetryAfter(headers['retry-after'], wallMs);
    const message = `${who} answered ${status}${isPassing ? ` (${error})` : ''}: the bridge asks again; if this lasts, check it`;
    return unavailable(place, message, { status, retryAfterMs });
  }
  if (status <= 399)
    return refused(
      place,
      `${who} answered ${status}: the bridge follows no redirects: configure the final oauth2.tokenUrl`,
      status,
    );
  const advice = Object.hasOwn(ERRORS, error) ? ERRORS[error] : undefined;
  if (advice !== undefined) return refused(place, `${who} answered ${status}, ${error}: ${advice}`, status);
  return refused(
    place,
    `${who} answered ${status}: check oauth2.tokenUrl, oauth2.clientId and oauth2.clientSecret`,
    status,
  );
}

/** Returns the fault of a token endpoint that is temporarily unavailable. */
export function unavailable({ codes }: HttpPlace, message: string, details: BridgeErrorDetails): BridgeError {
  return new BridgeError(codes.tokenUnavailable, message, { disposition: 'retry', scope: 'sink', ...details });
}

function granted(
  members: Readonly<Record<string, unknown>>,
  place: HttpPlace,
  status: number,
): AccessToken | BridgeError {
  const who = whoOf(place);
  const { access_token: token, token_type: type, expires_in: expiresIn } = members;
  if (typeof token !== 'string' || !B64TOKEN.test(token))
    return refused(
      place,
      `${who} answered ${status} without an access_token that fits into a header: check oauth2.tokenUrl`,
      status,
    );
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    return refused(
      place,
      `${who} issued a token that is not of type Bearer, which the bridge requires: change the type there`,
      status,
    );
  return { token, lifetimeMs: lifetimeOf(expiresIn) * 1000 };
}

/** Returns the lifetime in seconds. Some servers write the number as a string. */
function lifetimeOf(expiresIn: unknown): number {
  const seconds = typeof expiresIn === 'string' && /^\d{1,15}$/.test(expiresIn) ? Number(expiresIn) : expiresIn;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 0) return DEFAULT_LIFETIME_S;
  return Math.min(seconds, LONGEST_LIFETIME_S);
}

function refused({ codes }: HttpPlace, message: string, status: number): BridgeError {
  return new BridgeError(codes.tokenRefused, message, { disposition: 'misconfigured', scope: 'sink', status });
}
