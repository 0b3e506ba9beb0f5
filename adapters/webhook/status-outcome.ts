// The status line of an answer, and its Retry-After → accepted, or what the failure asks of the lane (contract, section 5, the status table).

import { BridgeError, type BridgeErrorDetails, type ErrorCode } from '../../src/errors.ts';
import { parseRetryAfter } from '../../src/formats/dates.ts';
import type { Outcome } from '../adapter.ts';

/** What is read of an answer. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

interface Meaning extends Pick<BridgeErrorDetails, 'disposition' | 'scope'> {
  readonly code: ErrorCode;
  /** What to do, for people. */
  readonly advice: string;
}

const MISCONFIGURED = { code: 'BRIDGE_WEBHOOK_MISCONFIGURED', disposition: 'misconfigured', scope: 'sink' } as const;
const UNAVAILABLE: Meaning = {
  code: 'BRIDGE_WEBHOOK_UNAVAILABLE',
  advice: 'it is tried again; if this lasts, look at the receiver',
  disposition: 'retry',
};
const REFUSED: Meaning = {
  code: 'BRIDGE_WEBHOOK_REFUSED',
  advice: 'it will not take this event, which goes to the dead letters',
  disposition: 'refused',
};
const REDIRECT: Meaning = { ...MISCONFIGURED, advice: 'redirects are never followed, so give the final URL' };

const MEANINGS: Readonly<Record<number, Meaning>> = {
  401: { ...MISCONFIGURED, advice: 'check the credentials in headers or oauth2' },
  403: { ...MISCONFIGURED, advice: 'check the credentials in headers or oauth2' },
  404: { ...MISCONFIGURED, advice: 'check the path of the url' },
  408: UNAVAILABLE,
  410: {
    code: 'BRIDGE_WEBHOOK_GONE',
    advice: 'the endpoint is retired; the sink is paused until its configuration changes or `resume` is run',
    disposition: 'retired',
    scope: 'sink',
  },
  425: UNAVAILABLE,
  429: UNAVAILABLE,
};

/** `who` names the sink and shows scheme and host; `wallMs` is the moment that a Retry-After date is measured from. */
export function outcomeOf({ status, retryAfter }: Answer, who: string, wallMs: number): Outcome {
  if (status >= 200 && status <= 299) return 'accepted';
  const { code, advice, ...details } = meaningOf(status);
  const isTriedAgain = details.disposition === 'retry' || details.disposition === 'misconfigured';
  const retryAfterMs = isTriedAgain ? parseRetryAfter(retryAfter, wallMs) : null;
  return new BridgeError(code, `${who} answered ${status}: ${advice}`, {
    ...details,
    status,
    ...(retryAfterMs !== null && { retryAfterMs }),
  });
}

function meaningOf(status: number): Meaning {
  if (status >= 300 && status <= 399) return REDIRECT;
  return MEANINGS[status] ?? (status >= 400 && status <= 499 ? REFUSED : UNAVAILABLE);
}
