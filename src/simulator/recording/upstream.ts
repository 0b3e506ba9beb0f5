// A metadata request → the real service's answer: direct, without proxy or redirect.
import type { Agent, IncomingMessage, RequestOptions } from 'node:http';
import { BridgeError, codeOf, messageOf } from '../../errors.ts';
import { type Deps, deadline } from '../../time/clock.ts';
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
  const agent = new (http().Agent)({ keepAlive: true, timeout: IDLE_MS });
  const forward: Upstream['forward'] = async (request, signal) => {
    signal.throwIfAborted();
    const limit = deadline(deps, TIMEOUT_MS, () => new Error('timeout'), signal);
    try {
      return await exchange(request, origin, agent, limit.signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return limit.signal.aborted ? tooLate(origin) : unreachable(origin, error);
    } finally {
      limit.cancel();
    }
  };
  return { forward, [Symbol.dispose]: () => agent.destroy() };
}

/** `import http from 'node:http'` would load undici too: 11 MB. */
function http(): typeof import('node:http') {
  return process.getBuiltinModule('node:http');
}

function exchange(request: SimRequest, origin: string, agent: Agent, signal: AbortSignal): Promise<UpstreamAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<UpstreamAnswer>();
  const outgoing = http().request(origin, { ...toOutgoing(request), agent });
  const abort = () => {
    reject(signal.reason);
    outgoing.destroy();
  };
  signal.addEventListener('abort', abort, { once: true });
  let hasAnswered = false;
  outgoing.on('error', (error) => {
    // A connection that breaks in the middle of an answer is told by the answer; one that was given up means nothing.
    if (hasAnswered || signal.aborted) return;
    if (!isReset(error)) reject(error);
    // The connection had been idle for too long and never took the request: that is no answer.
    else if (outgoing.reusedSocket && request.method === 'GET') resolve(exchange(request, origin, agent, signal));
    else resolve({ ...empty(502), reset: true });
  });
  // Without a listener a 101 would leave the request hanging.
  outgoing.on('upgrade', (_, socket) => {
    socket.destroy();
    reject(new Error('it wants to change the protocol'));
  });
  outgoing.on('response', (incoming) => {
    hasAnswered = true;
    receive(incoming, resolve, reject);
  });
  outgoing.end(request.body);
  return promise.finally(() => signal.removeEventListener('abort', abort));
}

function toOutgoing({ method, url, headers, body }: SimRequest): RequestOptions {
  const connection = Object.entries(headers).find(([name]) => name.toLowerCase() === 'connection')?.[1];
  const passed = Object.entries(headers).filter(
    // What comes compressed could not be recorded.
    ([name, value]) => value !== undefined && isPassedOn(name, connection) && name.toLowerCase() !== 'accept-encoding',
  );
  const length: [string, string][] = body.length > 0 || method === 'POST' ? [['content-length', String(body.length)]] : [];
  return { method, path: url, headers: Object.fromEntries([...passed, ...length]) as Record<string, string> };
}

function isPassedOn(name: string, connection: string | undefined): boolean {
  const lower = name.toLowerCase();
  const named = connection?.split(',').map((option) => option.trim().toLowerCase()) ?? [];
  return !NOT_PASSED_ON.has(lower) && !named.includes(lower);
}

function receive(incoming: IncomingMessage, resolve: (answer: UpstreamAnswer) => void, reject: (error: Error) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length;
    chunks.push(chunk);
    if (size <= LARGEST_ANSWER) return;
    reject(new Error(`its answer is larger than ${LARGEST_ANSWER} bytes`));
    incoming.destroy();
  });
  const answer = () => ({ status: incoming.statusCode ?? 502, headers: answerHeaders(incoming), body: Buffer.concat(chunks) });
  incoming.on('end', () => resolve(answer()));
  incoming.on('error', () => resolve(cutOff(answer(), Number(incoming.headers['content-length'] ?? size + 1))));
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

function isReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(codeOf(error) ?? '');
}

function unreachable(origin: string, error: unknown): UpstreamAnswer {
  const detail = `The recorder got no answer from ${origin}: ${messageOf(error)}.`;
  return { ...json(502, { error: detail }), unreachable: codeOf(error) ?? messageOf(error) };
}

function tooLate(origin: string): UpstreamAnswer {
  const detail = `The recorder got no whole answer from ${origin} within ${TIMEOUT_MS / 1000} s.`;
  return { ...json(504, { error: detail }), unreachable: 'timeout' };
}
