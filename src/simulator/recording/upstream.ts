// A metadata request → the real service's answer, without proxy or redirect.
import type { IncomingMessage } from 'node:http';
import { urlToHttpOptions } from 'node:url';
import { BridgeError, codeOf, messageOf } from '../../errors.ts';
import { type HttpRequest, isReset, readBody, sendRequest, UnexpectedUpgrade } from '../../net/http-exchange.ts';
import { type Deps, deadline, orAbort } from '../../time/clock.ts';
import { answerJson, empty, type SimAnswer, type SimRequest } from '../answer.ts';

/** The answer for the client: upstream's own, or the recorder's. */
export interface UpstreamAnswer extends SimAnswer {
  /** Why upstream did not answer; the answer, 502 or 504, is then the recorder's own. */
  readonly unreachable?: string;
}

export interface Upstream extends Disposable {
  /**
   * Resolves with upstream's behaviour: its answer, a reset for a reset connection, a truncated answer for one that
   * breaks off, 502 if it cannot be reached, and 504 after 150 s. Rejects only with the signal's reason, when the
   * signal aborts.
   */
  readonly forward: (request: SimRequest, signal: AbortSignal) => Promise<UpstreamAnswer>;
}

/** A first answer can take up to 2 minutes (protocol 1.4). */
const TIMEOUT_MS = 150_000;

/** Four times as much as clients read. */
const LARGEST_ANSWER = 16 * 1024 * 1024;

/** Shorter than the time that servers keep an idle connection, so that few requests meet a closed one. */
const IDLE_MS = 4000;

/**
 * Headers of the connection, not of the request (RFC 9110, section 7.6.1), and headers that follow from the address and
 * the body.
 */
const NOT_FORWARDED = new Set([
  ...[
    'connection',
    'keep-alive',
    'proxy-authenticate',
    'proxy-authorization',
    'proxy-connection',
    'te',
    'trailer',
    'transfer-encoding',
  ],
  ...['upgrade', 'expect', 'host', 'content-length'],
]);

/**
 * Returns the origin of an `http://HOST[:PORT]`.
 * @throws BridgeError BRIDGE_USAGE for anything else. The message omits the text, which may contain a password.
 */
export function parseUpstream(text: string): string {
  const url = /^http:\/\/[^/?#@\\\s]+\/?$/i.test(text) && URL.canParse(text) ? new URL(text) : null;
  if (url) return url.origin;
  throw new BridgeError(
    'BRIDGE_USAGE',
    '--upstream takes an http URL with only a host and a port, such as http://169.254.169.254',
  );
}

/** Connects at the first request and then keeps its connections. @param origin the result of `parseUpstream` */
export function connectUpstream(origin: string, deps: Pick<Deps, 'after'>): Upstream {
  // Its own agent uses no proxy, whatever HTTP_PROXY and NODE_USE_ENV_PROXY say.
  const agent = new (process.getBuiltinModule('node:http').Agent)({ keepAlive: true, timeout: IDLE_MS });
  const target = urlToHttpOptions(new URL(origin));
  const forward: Upstream['forward'] = async (request, signal) => {
    signal.throwIfAborted();
    const limit = deadline(deps, TIMEOUT_MS, () => new Error('timeout'), signal);
    try {
      const outgoing = { ...toOutgoing(request), url: origin, target: { ...target, path: request.url }, agent };
      return await sendRequest(outgoing, limit.signal, (incoming) => orAbort(receive(incoming), limit.signal));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (limit.signal.aborted) return tooLate(origin);
      return isReset(error) ? { ...empty(502), reset: true } : unreachable(origin, error);
    } finally {
      limit.cancel();
    }
  };
  return { forward, [Symbol.dispose]: () => agent.destroy() };
}

/**
 * Once upstream has sent a status, a broken connection truncates the answer. A GET on a connection that was already
 * closed is sent again.
 */
function toOutgoing({ method, headers, body }: SimRequest): Omit<HttpRequest, 'url'> {
  const connection = Object.entries(headers).find(([name]) => name.toLowerCase() === 'connection')?.[1];
  const passed = Object.entries(headers).filter(
    // A compressed answer could not be recorded.
    ([name, value]) => value !== undefined && isForwarded(name, connection) && name.toLowerCase() !== 'accept-encoding',
  );
  const length: [string, string][] =
    body.length > 0 || method === 'POST' ? [['content-length', String(body.length)]] : [];
  const outgoing = Object.fromEntries([...passed, ...length]) as Record<string, string>;
  return { method, headers: outgoing, body, statusDecides: true, retryStale: method === 'GET' };
}

function isForwarded(name: string, connection: string | undefined): boolean {
  const lower = name.toLowerCase();
  const named = connection?.split(',').map((option) => option.trim().toLowerCase()) ?? [];
  return !NOT_FORWARDED.has(lower) && !named.includes(lower);
}

async function receive(incoming: IncomingMessage): Promise<UpstreamAnswer> {
  const chunks: Buffer[] = [];
  const answer = (body: Uint8Array) => ({ status: incoming.statusCode ?? 502, headers: answerHeaders(incoming), body });
  const body = await readBody(incoming, LARGEST_ANSWER, chunks).catch(() => undefined);
  if (body === null) throw new Error(`its answer is larger than ${LARGEST_ANSWER} bytes`);
  return body ? answer(body) : cutOff(answer(Buffer.concat(chunks)), Number(incoming.headers['content-length'] ?? 0));
}

/** Sends the client what arrived, and then closes its connection. */
function cutOff(answer: SimAnswer, announced: number): UpstreamAnswer {
  const { body } = answer;
  // The body's length is the announced one. It is capped: no client reads a larger answer.
  const whole = Buffer.alloc(Math.min(Math.max(announced, body.length + 1), LARGEST_ANSWER + 1));
  whole.set(body);
  return { ...answer, body: whole, truncate: body.length };
}

function answerHeaders(incoming: IncomingMessage): Readonly<Record<string, string>> {
  const connection = incoming.headers.connection;
  return Object.fromEntries(
    Object.entries(incoming.headersDistinct)
      .filter(([name]) => isForwarded(name, connection))
      .map(([name, values]) => [name, (values ?? []).join(', ')]),
  );
}

function unreachable(origin: string, error: unknown): UpstreamAnswer {
  const why = error instanceof UnexpectedUpgrade ? 'it tried to change the protocol' : messageOf(error);
  return {
    ...answerJson(502, { error: `The recorder received no answer from ${origin}: ${why}.` }),
    unreachable: codeOf(error) ?? why,
  };
}

function tooLate(origin: string): UpstreamAnswer {
  const detail = `The recorder received no complete answer from ${origin} within ${TIMEOUT_MS / 1000} s.`;
  return { ...answerJson(504, { error: detail }), unreachable: 'timeout' };
}
