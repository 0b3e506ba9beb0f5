// The status of an answer → null for a success, or a fault for the lane.
import { BridgeError } from '../../src/errors.ts';
import { parseRetryAfter } from '../../src/formats/dates.ts';
import type { Answer } from './endpoint.ts';
import { type HttpPlace, type StatusMeaning, whoOf } from './failures.ts';

/** For a `StatusMeaning` that is retried slowly until the configuration is corrected. */
export const MISCONFIGURED_STATUS = { failure: 'misconfigured', disposition: 'misconfigured', scope: 'sink' } as const;
const UNAVAILABLE: StatusMeaning = {
  failure: 'unavailable',
  advice: 'the bridge retries; if this lasts, check the receiver',
  disposition: 'retry',
};
const REFUSED: StatusMeaning = {
  failure: 'refused',
  advice: 'it rejects this event, which becomes a dead letter',
  disposition: 'refused',
};
/**
 * Returns the meaning of 415 for a kind that can send another body.
 * @param change the keys to set, such as `compression: none`
 */
export function takesNoSuchBody(change: string): StatusMeaning {
  return { ...REFUSED, advice: `it does not accept this body: set ${change}; this event becomes a dead letter` };
}

const REDIRECT: StatusMeaning = {
  ...MISCONFIGURED_STATUS,
  advice: 'the bridge follows no redirects: configure the final URL',
};
const GONE: StatusMeaning = {
  failure: 'gone',
  advice: 'the endpoint is retired; the sink is paused until its configuration changes or `resume` is run',
  disposition: 'retired',
  scope: 'sink',
};

/** @param wallMs the current time, for a Retry-After date */
export function statusFault({ status, headers }: Answer, place: HttpPlace, wallMs: number): BridgeError | null {
  if (status >= 200 && status <= 299) return null;
  const { failure, advice, ...details } = meaningOf(status, place);
  const isTriedAgain = details.disposition === 'retry' || details.disposition === 'misconfigured';
  const retryAfterMs = isTriedAgain ? parseRetryAfter(headers['retry-after'], wallMs) : null;
  return new BridgeError(place.codes[failure], `${whoOf(place)} answered ${status}: ${advice}`, {
    ...details,
    status,
    retryAfterMs,
  });
}

function meaningOf(status: number, { key, credentials, statuses }: HttpPlace): StatusMeaning {
  const own = statuses?.[status];
  if (own !== undefined) return own;
  if (status >= 300 && status <= 399) return REDIRECT;
  if (status === 401 || status === 403)
    return { ...MISCONFIGURED_STATUS, advice: `check the credentials in ${credentials}` };
  if (status === 404) return { ...MISCONFIGURED_STATUS, advice: `check the path of the ${key}` };
  if (status === 410) return GONE;
  const isPassing = status < 400 || status > 499 || status === 408 || status === 425 || status === 429;
  return isPassing ? UNAVAILABLE : REFUSED;
}
