// The status line of an answer, and its Retry-After → accepted, or what the failure asks of the lane (contract, section 5, the status table).
import { parseRetryAfter } from '../../src/dates.ts';
import { BridgeError, type BridgeErrorDetails, type ErrorCode } from '../../src/errors.ts';
import type { Outcome } from '../adapter.ts';

/** What is read of an answer. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** `who` names the sink and shows scheme and host; `wallMs` is the moment that a Retry-After date is measured from. */
export function outcomeOf(answer: Answer, who: string, wallMs: number): Outcome {
  const { status } = answer;
  const failure = (code: ErrorCode, advice: string, details: BridgeErrorDetails) =>
    new BridgeError(code, `${who} answered ${status}: ${advice}`, { ...details, status });
  if (status >= 200 && status <= 299) return 'accepted';
  if (status >= 300 && status <= 399) {
    return failure('BRIDGE_WEBHOOK_MISCONFIGURED', 'redirects are never followed, so give the final URL', {
      disposition: 'misconfigured',
      scope: 'sink',
    });
  }
  if (status === 401 || status === 403) {
    return failure('BRIDGE_WEBHOOK_MISCONFIGURED', 'check the credentials in headers', { disposition: 'misconfigured', scope: 'sink' });
  }
  if (status === 404)
    return failure('BRIDGE_WEBHOOK_MISCONFIGURED', 'check the path of the url', { disposition: 'misconfigured', scope: 'sink' });
  if (status === 410) {
    return failure('BRIDGE_WEBHOOK_GONE', 'the endpoint is retired; the sink is paused until its configuration changes', {
      disposition: 'retired',
      scope: 'sink',
    });
  }
  if (status >= 400 && status <= 499 && status !== 408 && status !== 425 && status !== 429) {
    return failure('BRIDGE_WEBHOOK_REFUSED', 'it will not take this event, which goes to the dead letters', { disposition: 'refused' });
  }
  const retryAfterMs = parseRetryAfter(answer.retryAfter, wallMs);
  const pause = retryAfterMs === null ? {} : { retryAfterMs };
  return failure('BRIDGE_WEBHOOK_UNAVAILABLE', 'it is tried again; if this lasts, look at the receiver', {
    disposition: 'retry',
    ...pause,
  });
}
