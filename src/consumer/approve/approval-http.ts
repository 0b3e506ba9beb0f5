// An approval, hold or release → HTTP requests to a bridge, repeated while they may succeed.

import { codeOf, messageOf } from '../../errors.ts';
import { parseRetryAfter, toRfc3339 } from '../../formats/dates.ts';
import { isObject } from '../../formats/json-object.ts';
import { deadline, sleep } from '../../time/clock.ts';
import type { Clock } from '../clock.ts';
import { ConsumerError } from '../consumer-error.ts';
import type { ApprovalChannel, ApprovalOrder, ApprovalResult } from './approver.ts';

export interface HttpOptions {
  /** Of the bridge's `http.listen`; a path before `/v1/` may be part of it. */
  readonly url: string;
  /** The approver's; a function is asked at each attempt, so that a token can be replaced. */
  readonly token: string | (() => string | Promise<string>);
  /** True: `http://` beyond loopback, where anyone on the way reads the token. */
  readonly allowInsecure?: boolean;
  /** For one attempt; 10 s where absent. */
  readonly timeoutMs?: number;
  /** How long 429, 503, network faults and those of proxies are tried again; 60 s where absent. */
  readonly retryForMs?: number;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
const RETRIED = [429, 503];
/** What a proxy says where it does not reach the bridge; a bridge says 502 with a type of its own. */
const RETRIED_OF_PROXIES = [502, 504];
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** @throws ConsumerError `usage` for a URL that is none, or one that would show the token */
export function httpOn(options: HttpOptions, clock: Clock): ApprovalChannel {
  const { token, timeoutMs = 10_000, retryForMs = 60_000 } = options;
  const base = baseOf(options);

  const attempt = async (order: ApprovalOrder, askedMs: number | null, parent: AbortSignal | undefined): Promise<Answer> => {
    const authorization = bearerOf(typeof token === 'string' ? token : await token());
    const limit = deadline(clock, timeoutMs, () => new Error(`no answer within ${timeoutMs} ms`), parent);
    try {
      const response = await fetch(new URL(pathOf(order, askedMs), base), {
        method: order.kind === 'release' ? 'DELETE' : 'POST',
        headers: { authorization, ...(order.kind !== 'release' && { 'content-type': 'application/json' }) },
        ...(order.kind !== 'release' && { body: JSON.stringify(order.body) }),
        // The token is for this bridge alone.
        redirect: 'manual',
        signal: limit.signal,
      });
      return { status: response.status, retryAfterMs: retryAfterMs(response, clock.wallMs()), body: parse(await response.text()) };
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
      const firstMs = clock.wallMs();
      let askedMs: number | null = null;
      let isAnswerLost = false;
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
        signal?.throwIfAborted();
        const answer = await attempt(order, askedMs, signal);
        if (answer.status !== null && !isRetried(answer)) return resultOf(order, answer, isAnswerLost);
        isAnswerLost ||= answer.status === null || !RETRIED.includes(answer.status);
        const waitMs = Math.max(answer.retryAfterMs, pauseMs * (0.5 + clock.random() / 2));
        if (clock.elapsedMs() + waitMs > endMs) throw unreachable(order, answer, retryForMs);
        await sleep(clock, waitMs, signal);
        askedMs = firstMs;
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

/** In a message that fetch would make of a bad one it would stand whole. @throws ConsumerError `usage`, without a word of it */
export function bearerOf(token: string): string {
  const plain = token.trim();
  if (/^[\x21-\x7e]+$/.test(plain)) return `Bearer ${plain}`;
  throw new ConsumerError(
    'usage',
    'the token is empty, or holds a space, a line end or a character beyond ASCII, which no header can carry',
  );
}

/** @throws ConsumerError `usage` for a URL that is none, or one that would show the token */
export function baseOf({ url, allowInsecure = false }: Pick<HttpOptions, 'url' | 'allowInsecure'>): string {
  if (!URL.canParse(url)) throw new ConsumerError('usage', 'the url of a bridge must be an https:// URL');
  const base = new URL(url.endsWith('/') ? url : `${url}/`);
  if (base.username !== '' || base.password !== '' || base.search !== '')
    throw new ConsumerError('usage', 'the url of a bridge holds neither user, password nor query: the token goes into a header');
  if (base.protocol === 'https:') return base.href;
  if (base.protocol === 'http:' && (allowInsecure || LOOPBACK.test(base.hostname))) return base.href;
  throw new ConsumerError('usage', `the token would go to ${base.host} unencrypted: use https://, or allowInsecure: true`);
}

/** `askedMs`: when it was first asked for, where it is asked again: what was set since then is not meant. */
function pathOf({ kind, eventId, body: { approver } }: ApprovalOrder, askedMs: number | null): string {
  if (kind === 'approval') return 'v1/approvals';
  if (kind === 'hold') return 'v1/holds';
  const query = new URLSearchParams({
    ...(typeof approver === 'string' && { approver }),
    ...(askedMs !== null && { before: toRfc3339(askedMs) }),
  });
  return `v1/holds/${encodeURIComponent(eventId)}${query.size > 0 ? `?${query}` : ''}`;
}

/** `isAnswerLost`: an earlier attempt may have done it already. What is no answer of a bridge, such as a page of a proxy, is no success. */
function resultOf(order: ApprovalOrder, { status, body }: Extract<Answer, { body: unknown }>, isAnswerLost: boolean): ApprovalResult {
  const { results, holds, type, detail } = isObject(body) ? body : {};
  const [first]: readonly unknown[] = Array.isArray(results) ? results : [];
  const isHeld = order.kind === 'hold' && status === 201 && Array.isArray(holds);
  const isReleased = order.kind === 'release' && (status === 204 || (isAnswerLost && type === 'not-held'));
  if (isHeld || isReleased) return { eventId: order.eventId, state: 'held' };
  if (order.kind === 'approval' && status < 300 && isObject(first)) return first as unknown as ApprovalResult;
  const said = typeof detail === 'string' ? detail : `it answered ${status}, which is no answer of a bridge: see that url is right`;
  const message = `the bridge refused the ${order.kind} for event ${order.eventId}: ${said}`;
  throw new ConsumerError('refused', message, { status, ...(typeof type === 'string' && { type }) });
}

function unreachable(order: ApprovalOrder, answer: Answer, forMs: number): ConsumerError {
  const why = answer.status === null ? reasonOf(answer.error) : `it answered ${answer.status}`;
  const message = `the ${order.kind} for event ${order.eventId} did not get through within ${forMs / 1000} s: ${why}; ask again`;
  return new ConsumerError('unreachable', message, answer.status === null ? { cause: answer.error } : { status: answer.status });
}

/** What fetch throws says why in its cause. */
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
