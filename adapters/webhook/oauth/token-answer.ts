// The answer of a token endpoint → an access token and how long it holds, or what the failure asks of the lane (RFC 6749, sections 5.1 and 5.2).

import { BridgeError, type BridgeErrorDetails } from '../../../src/errors.ts';
import { parseRetryAfter } from '../../../src/formats/dates.ts';
import type { TokenAnswer } from './token-request.ts';

export interface AccessToken {
  /** Fit for a header (RFC 6750, section 2.1). */
  readonly token: string;
  readonly lifetimeMs: number;
}

/** Without `expires_in`, which is only recommended; a token that ends sooner is found by the receiver's 401. */
const DEFAULT_LIFETIME_S = 5 * 60;
const LONGEST_LIFETIME_S = 24 * 60 * 60;
const B64TOKEN = /^[A-Za-z0-9._~+/-]{1,16384}=*$/;

/** The errors that may be shown, each with what to do; another could be anything that the server was told, a secret too. */
const ERRORS: Readonly<Record<string, string>> = {
  invalid_client: 'check oauth2.clientId and oauth2.clientSecret, and whether clientAuth: post is what it wants',
  unauthorized_client: 'allow this client the grant client_credentials there',
  unsupported_grant_type: 'allow the grant client_credentials there',
  invalid_scope: 'check oauth2.scope',
  invalid_target: 'check oauth2.audience',
  invalid_grant: 'check oauth2.clientId and oauth2.clientSecret',
  invalid_request: 'check oauth2.scope and oauth2.audience, and whether clientAuth: post is what it wants',
  access_denied: 'allow this client there what oauth2.scope and oauth2.audience ask for',
};
/** What passes, whatever the status. */
const PASSING = new Set(['temporarily_unavailable', 'server_error', 'slow_down']);

/** `who` names the sink and the token endpoint; `wallMs` is the moment that a Retry-After date is measured from. */
export function readToken(answer: TokenAnswer, who: string, wallMs: number): AccessToken | BridgeError {
  const { status } = answer;
  const members = membersOf(answer.body);
  if (status >= 200 && status <= 299) return granted(members, who, status);
  const error = typeof members['error'] === 'string' ? members['error'] : '';
  const isPassing = PASSING.has(error);
  if (isPassing || status < 300 || status >= 500 || status === 408 || status === 425 || status === 429) {
    const pauseMs = parseRetryAfter(answer.retryAfter, wallMs);
    const said = isPassing ? ` (${error})` : '';
    return unavailable(`${who} answered ${status}${said}: it is asked again; if this lasts, look at it`, {
      status,
      ...(pauseMs !== null && { retryAfterMs: pauseMs }),
    });
  }
  if (status <= 399) return refused(`${who} answered ${status}: redirects are never followed, so give the final oauth2.tokenUrl`, status);
  const advice = Object.hasOwn(ERRORS, error) ? ERRORS[error] : undefined;
  if (advice !== undefined) return refused(`${who} answered ${status}, ${error}: ${advice}`, status);
  return refused(`${who} answered ${status}: check oauth2.tokenUrl, oauth2.clientId and oauth2.clientSecret`, status);
}

/** The endpoint gave no answer in time, or none at all. */
export function unavailable(message: string, details: Pick<BridgeErrorDetails, 'status' | 'retryAfterMs'>): BridgeError {
  return new BridgeError('BRIDGE_WEBHOOK_TOKEN_UNAVAILABLE', message, { disposition: 'retry', scope: 'sink', ...details });
}

function granted(members: Readonly<Record<string, unknown>>, who: string, status: number): AccessToken | BridgeError {
  const { access_token: token, token_type: type, expires_in: expiresIn } = members;
  if (typeof token !== 'string' || !B64TOKEN.test(token))
    return refused(`${who} answered ${status} without an access_token that a header can hold: check oauth2.tokenUrl`, status);
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    return refused(`${who} gave a token of another type than Bearer, which the bridge cannot use: change that there`, status);
  return { token, lifetimeMs: lifetimeOf(expiresIn) * 1000 };
}

/** Some servers write the number as a text. */
function lifetimeOf(expiresIn: unknown): number {
  const seconds = typeof expiresIn === 'string' && /^\d{1,15}$/.test(expiresIn) ? Number(expiresIn) : expiresIn;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 0) return DEFAULT_LIFETIME_S;
  return Math.min(seconds, LONGEST_LIFETIME_S);
}

/** None where the body is no JSON object. */
function membersOf(body: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body ?? '');
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function refused(message: string, status: number): BridgeError {
  return new BridgeError('BRIDGE_WEBHOOK_TOKEN_REFUSED', message, { disposition: 'misconfigured', scope: 'sink', status });
}
