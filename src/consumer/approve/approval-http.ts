// An approval, hold or release → HTTP requests to a bridge, with retries.

import { codeOf, messageOf } from '../../errors.ts';
import { parseRetryAfter, toRfc3339 } from '../../formats/dates.ts';
import { isObject } from '../../formats/json-object.ts';
import { deadline, sleep } from '../../time/clock.ts';
import type { Clock } from '../clock.ts';
import { ConsumerError } from '../consumer-error.ts';
import type { ApprovalChannel, ApprovalOrder, ApprovalResult } from './approver.ts';

export interface HttpOptions {
  /** The URL of the bridge's `http.listen`, with any path before `/v1/`. */
  readonly url: string;
  /** The approver's token. A function is called at each attempt, so that a token can be replaced. */
  readonly token: string | (() => string | Promise<string>);
  /** True allows `http://` beyond loopback. Anyone on the network path can then read the token. */
  readonly allowInsecure?: boolean;
  /** The limit of one attempt; 10 s if absent. */
  readonly timeoutMs?: number;
  /** How long 429, 503, network faults and faults of proxies are retried; 60 s if absent. */
  readonly retryForMs?: number;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
const RETRIED = [429, 503];
/** Answers of a proxy that does not reach the bridge. The bridge's own 502 has a problem type. */
const RETRIED_OF_PROXIES = [502, 504];
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** @throws ConsumerError `usage` if the URL is not valid, or would expose the token */
export function httpOn(options: HttpOptions, clock: Clock): ApprovalChannel {
  const { token, timeoutMs = 10_000, retryForMs = 60_000 } = options;
  const base = baseOf(options);

  const attempt = async (
    order: ApprovalOrder,
    firstAttemptMs: number | null,
    parent: AbortSignal | undefined,
  ): Promise<Answer> => {
    const authorization = bearerOf(typeof token === 'string' ? token : await token());
    const limit = deadline(clock, timeoutMs, () => new Error(`no answer within ${timeoutMs} ms`), parent);
    try {
      const response = await fetch(new URL(pathOf(order, firstAttemptMs), base), {
        method: order.kind === 'release' ? 'DELETE' : 'POST',
        headers: { authorization, ...(order.kind !== 'release' && { 'content-type': 'application/json' }) },
        ...(order.kind !== 'release' && { body: JSON.stringify(order.body) }),
        // The token is only for this bridge.
        redirect: 'manual',
        signal: limit.signal,
      });
      return {
        status: response.status,
        retryAfterMs: retryAfterMs(response, clock.wallMs()),
        body: parse(await response.text()),
      };
    } catch (error) {
      parent?.throwIfAborted();
      return { status: null, retryAfterMs: 0, error };
    } finally {
      limit.cancel();
    }
  };

  return {
    send: async (order, signal) => {
      const endMs = clock.elapsedMs() + retryForMs;
      const startedMs = clock.wallMs();
      let firstAttemptMs: number | null = null;
      let isAnswerLost = false;
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
        signal?.throwIfAborted();
        const answer = await attempt(order, firstAttemptMs, signal);
        if (answer.status !== null && !isRetried(answer)) return resultOf(order, answer, isAnswerLost);
        isAnswerLost ||= answer.status === null || !RETRIED.includes(answer.status);
        const waitMs = Math.max(answer.retryAfterMs, pauseMs * (0.5 + clock.random() / 2));
        if (clock.elapsedMs() + waitMs > endMs) throw unreachable(order, answer, retryForMs);
        await sleep(clock, waitMs, signal);
        firstAttemptMs = startedMs;
      }
    },
  };
}

type Answer =
  | { readonly status: number; readonly retryAfterMs: number; readonly body: unknown }
  | { readonly status: null; readonly retryAfterMs: number; readonly error: unknown };

function isRetried({ status, body }: Extract<Answer, { body: unknown }>): boolean {
  if (RETRIED.includes(status)) return true;
  return RETRIED_OF_PROXIES.includes(status) && !(isObject(body) && typeof body['type'] === 'string');
}

/**
 * Checks the token here, because the message of fetch would show all of a token that is not valid.
 * @throws ConsumerError `usage`, without any part of the token
 */
export function bearerOf(token: string): string {
  const plain = token.trim();
  if (/^[\x21-\x7e]+$/.test(plain)) return `Bearer ${plain}`;
  throw new ConsumerError(
    'usage',
    'the token is empty, or has a space, a line end or a non-ASCII character, which are not allowed in a header',
  );
}

/** @throws ConsumerError `usage` if the URL is not valid, or would expose the token */
export function baseOf({ url, allowInsecure = false }: Pick<HttpOptions, 'url' | 'allowInsecure'>): string {
  if (!URL.canParse(url)) throw new ConsumerError('usage', 'the url of a bridge must be an https:// URL');
  const base = new URL(url.endsWith('/') ? url : `${url}/`);
  if (base.username !== '' || base.password !== '' || base.search !== '')
    throw new ConsumerError(
      'usage',
      'the url of a bridge must not have a user, password or query: the token is sent in a header',
    );
  if (base.protocol === 'https:') return base.href;
  if (base.protocol === 'http:' && (allowInsecure || LOOPBACK.test(base.hostname))) return base.href;
  throw new ConsumerError(
    'usage',
    `the token would go to ${base.host} unencrypted: use https://, or allowInsecure: true`,
  );
}

/**
 * @param firstAttemptMs the time of the first attempt if this is a retry: a release must not lift holds that were set
 * after it
 */
function pathOf({ kind, eventId, body: { approver } }: ApprovalOrder, firstAttemptMs: number | null): string {
  if (kind === 'approval') return 'v1/approvals';
  if (kind === 'hold') return 'v1/holds';
  const query = new URLSearchParams({
    ...(typeof approver === 'string' && { approver }),
    ...(firstAttemptMs !== null && { before: toRfc3339(firstAttemptMs) }),
  });
  return `v1/holds/${encodeURIComponent(eventId)}${query.size > 0 ? `?${query}` : ''}`;
}

/**
 * Returns the result of an answer.
 * @param isAnswerLost true if an earlier attempt may have succeeded
 * @throws ConsumerError `refused` also if the answer is not from a bridge, such as the page of a proxy
 */
function resultOf(
  order: ApprovalOrder,
  { status, body }: Extract<Answer, { body: unknown }>,
  isAnswerLost: boolean,
): ApprovalResult {
  const { results, holds, type, detail } = isObject(body) ? body : {};
  const [first]: readonly unknown[] = Array.isArray(results) ? results : [];
  const isHeld = order.kind === 'hold' && status === 201 && Array.isArray(holds);
  const isReleased = order.kind === 'release' && (status === 204 || (isAnswerLost && type === 'not-held'));
  if (isHeld || isReleased) return { eventId: order.eventId, state: 'held' };
  if (order.kind === 'approval' && status < 300 && isObject(first)) return first as unknown as ApprovalResult;
  const reason = typeof detail === 'string' ? detail : `it answered ${status}, and not as a bridge does: check url`;
  const message = `the bridge refused the ${order.kind} for event ${order.eventId}: ${reason}`;
  throw new ConsumerError('refused', message, { status, ...(typeof type === 'string' && { type }) });
}

function unreachable(order: ApprovalOrder, answer: Answer, forMs: number): ConsumerError {
  const why = answer.status === null ? reasonOf(answer.error) : `it answered ${answer.status}`;
  const message = `the ${order.kind} for event ${order.eventId} did not succeed within ${forMs / 1000} s: ${why}; try again`;
  return new ConsumerError(
    'unreachable',
    message,
    answer.status === null ? { cause: answer.error } : { status: answer.status },
  );
}

/** Returns the reason of fetch's error, which is in its cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return codeOf(cause) ?? messageOf(cause ?? error);
}

/** Returns 0 if the header is missing or not valid. */
function retryAfterMs({ headers }: Response, wallMs: number): number {
  return parseRetryAfter(headers.get('retry-after') ?? undefined, wallMs) ?? 0;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
