// A metadata request → the real service's answer: direct, without proxy or redirect.
import type { IncomingMessage } from 'node:http';
import { urlToHttpOptions } from 'node:url';
import { BridgeError, codeOf, messageOf } from '../../errors.ts';
import { type HttpRequest, isReset, readBody, sendRequest, UnaskedUpgrade } from '../../net/http-exchange.ts';
import { type Deps, deadline, orAbort } from '../../time/clock.ts';
import { empty, json, type SimAnswer, type SimRequest } from '../answer.ts';

/** What upstream said, to be handed on as it is. */
export interface UpstreamAnswer extends SimAnswer {
  /** Upstream gave no answer, and why: this one, 502 or 504, is the recorder's own. */
  readonly unreachable?: string;
}

export interface Upstream extends Disposable {
  /**
   * Resolves with whatever upstream does: a connection that it resets is a reset, an answer that it cuts off is cut off, and where it cannot be
   * reached the answer is 502, after 150 s 504. Rejects only with the signal's reason, when that aborts.
   */
  readonly forward: (request: SimRequest, signal: AbortSignal) => Promise<UpstreamAnswer>;
}

/** A first answer can take 2 minutes (protocol 1.4). */
const TIMEOUT_MS = 150_000;

/** Four times what any client reads. */
const LARGEST_ANSWER = 16 * 1024 * 1024;

/** Shorter than servers keep an idle connection, so that hardly ever a request meets one just closed. */
const IDLE_MS = 4000;

/** Of this connection and not of the request (RFC 9110, section 7.6.1), and what follows from the address and the body. */
const NOT_PASSED_ON = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding'],
  ...['upgrade', 'expect', 'host', 'content-length'],
]);

/**
 * The origin of an `http://HOST[:PORT]`.
 * @throws BridgeError BRIDGE_USAGE for anything else; the text is not shown, since it may hold a password
 */
export function parseUpstream(text: string): string {
  const url = /^http:\/\/[^/?#@\\\s]+\/?$/i.test(text) && URL.canParse(text) ? new URL(text) : null;
  if (url) return url.origin;
  throw new BridgeError('BRIDGE_USAGE', '--upstream takes an http URL of host and port alone, such as http://169.254.169.254');
}

/** Connects at the first request and then keeps its connections. @param origin as `parseUpstream` gives it */
export function connectUpstream(origin: string, deps: Pick<Deps, 'after'>): Upstream {
  // An agent of our own knows no proxy, whatever HTTP_PROXY and NODE_USE_ENV_PROXY say.
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

/** A connection that breaks in the middle of an answer is told by the answer, and one that never took a GET is no answer. */
function toOutgoing({ method, headers, body }: SimRequest): Omit<HttpRequest, 'url'> {
  const connection = Object.entries(headers).find(([name]) => name.toLowerCase() === 'connection')?.[1];
  const passed = Object.entries(headers).filter(
    // What comes compressed could not be recorded.
    ([name, value]) => value !== undefined && isPassedOn(name, connection) && name.toLowerCase() !== 'accept-encoding',
  );
  const length: [string, string][] = body.length > 0 || method === 'POST' ? [['content-length', String(body.length)]] : [];
  const outgoing = Object.fromEntries([...passed, ...length]) as Record<string, string>;
  return { method, headers: outgoing, body, statusDecides: true, retryStale: method === 'GET' };
}

function isPassedOn(name: string, connection: string | undefined): boolean {
  const lower = name.toLowerCase();
  const named = connection?.split(',').map((option) => option.trim().toLowerCase()) ?? [];
  return !NOT_PASSED_ON.has(lower) && !named.includes(lower);
}

async function receive(incoming: IncomingMessage): Promise<UpstreamAnswer> {
  const chunks: Buffer[] = [];
  const answer = (body: Uint8Array) => ({ status: incoming.statusCode ?? 502, headers: answerHeaders(incoming), body });
  const body = await readBody(incoming, LARGEST_ANSWER, chunks).catch(() => undefined);
  if (body === null) throw new Error(`its answer is larger than ${LARGEST_ANSWER} bytes`);
  return body ? answer(body) : cutOff(answer(Buffer.concat(chunks)), Number(incoming.headers['content-length'] ?? 0));
}

/** The client too gets what came, and then the end of its connection. */
function cutOff(answer: SimAnswer, announced: number): UpstreamAnswer {
  const { body } = answer;
  // How much was announced is told to the client by the length of the body; what no client reads whole is not worth its memory.
  const whole = Buffer.alloc(Math.min(Math.max(announced, body.length + 1), LARGEST_ANSWER + 1));
  whole.set(body);
  return { ...answer, body: whole, truncate: body.length };
}

function answerHeaders(incoming: IncomingMessage): Readonly<Record<string, string>> {
  const connection = incoming.headers.connection;
  return Object.fromEntries(
    Object.entries(incoming.headersDistinct)
      .filter(([name]) => isPassedOn(name, connection))
      .map(([name, values]) => [name, (values ?? []).join(', ')]),
  );
}

function unreachable(origin: string, error: unknown): UpstreamAnswer {
  const why = error instanceof UnaskedUpgrade ? 'it wants to change the protocol' : messageOf(error);
  return { ...json(502, { error: `The recorder got no answer from ${origin}: ${why}.` }), unreachable: codeOf(error) ?? why };
}

function tooLate(origin: string): UpstreamAnswer {
  const detail = `The recorder got no whole answer from ${origin} within ${TIMEOUT_MS / 1000} s.`;
  return { ...json(504, { error: detail }), unreachable: 'timeout' };
}
