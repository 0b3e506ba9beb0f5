// An HTTP request → its route's reply; no route and thrown errors → a problem.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import findMyWay from 'find-my-way';
import type { Logger } from 'pino';
import type { ClientCertificate } from '../auth/caller.ts';
import { BridgeError } from '../errors.ts';
import type { ClientConnection } from '../net/guard.ts';
import { type GuardedServerOptions, receiveBody } from '../net/guarded-server.ts';
import type { Deps } from '../time/clock.ts';
import { ReadingTurns } from './reading-turns.ts';
import {
  type AnswerStream,
  METHODS,
  type Method,
  problem,
  type Reply,
  type Route,
  type RouteRequest,
  type StreamedBody,
} from './route.ts';

const FIXED_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
/** As long as the server's headers may be, so that the route judges a long parameter. */
const MAX_PARAM_LENGTH = 16 * 1024;
/** The bridge tries a failed store again each second; a full disk needs an operator. */
const RETRY_AFTER_SECONDS = 5;
/** Names of parameters in which clients put a token into the URL. */
const TOKENS = ['token', 'access_token', 'authorization', 'bearer'];

interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

type Find = (method: Method, url: string) => Match | 'malformed' | null;

interface DispatchParts {
  readonly routes: readonly Route[];
  /** True: the connection ends with the answer. An open connection would delay a server that is closing. */
  readonly isLast: (socket: Socket) => boolean;
  readonly certificateOf: (socket: Socket) => ClientCertificate | null;
  readonly deps: Pick<Deps, 'after' | 'elapsedMs'>;
  readonly logger: Logger;
}

export function createDispatch({
  routes,
  isLast,
  certificateOf,
  deps,
  logger,
}: DispatchParts): GuardedServerOptions['handle'] {
  const find = createFind(routes);
  const turns = new ReadingTurns(deps);

  /** Resolves with null if the caller closed the connection. */
  const replyTo = async (
    request: IncomingMessage,
    response: ServerResponse,
    connection: ClientConnection,
  ): Promise<Reply | null> => {
    const url = request.url ?? '/';
    const method = METHODS.find((own) => own === (request.method === 'HEAD' ? 'GET' : request.method));
    const found = method === undefined ? null : find(method, url);
    if (found === null || found === 'malformed') return noRoute(find, url);
    const { route, params } = found;
    const { headers } = request;
    const { address, socket } = connection;
    const query = new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]);
    if ((route.path.startsWith('/v1/') || route.path === '/') && TOKENS.some((name) => query.has(name)))
      return tokenInUrl();
    const body = (limitBytes: number) => receiveBody(request, connection, limitBytes);
    try {
      const certificate = () => certificateOf(socket);
      return await route.handle({
        headers,
        address,
        certificate,
        params,
        query,
        body,
        inTurn: inTurn(turns, response, connection),
      });
    } catch (error) {
      return socket.destroyed || response.destroyed ? null : failure(error, route, logger);
    }
  };

  return async (request, response, connection) => {
    let reply = await replyTo(request, response, connection);
    if (reply === null || response.destroyed) return;
    logger.debug({ method: request.method, status: reply.status }, 'http request');
    if (reply.stream !== undefined && request.method !== 'HEAD') {
      const refused = reply.stream.refusal();
      if (refused === null) return await sendStream(reply, reply.stream, response, connection);
      reply = refused;
    }
    const end = isLast(connection.socket) ? { connection: 'close' } : {};
    // As bytes: unread answers are counted in bytes.
    const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body;
    const length = body === null ? {} : { 'content-length': body.byteLength };
    response.writeHead(reply.status, { ...FIXED_HEADERS, ...reply.headers, ...length, ...end });
    response.end(request.method === 'HEAD' ? '' : (body ?? ''));
  };
}

/** Resolves when the stream has ended. Not chunked: it ends with the connection. */
async function sendStream(
  reply: Reply,
  { begin }: StreamedBody,
  response: ServerResponse,
  connection: ClientConnection,
): Promise<void> {
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  connection.enter('streaming');
  response.useChunkedEncodingByDefault = false;
  response.writeHead(reply.status, { ...FIXED_HEADERS, ...reply.headers, connection: 'close' });
  response.flushHeaders();
  begin(answerStream(response, connection));
  await closed;
}

/**
 * Past the response and its gate, which cost each piece more than the socket does: the body is not chunked, the head
 * has gone through, and nothing else is answered on this connection.
 */
function answerStream(response: ServerResponse, connection: ClientConnection): AnswerStream {
  const { socket } = connection;
  return {
    write: (bytes) => socket.write(bytes),
    get unsentBytes() {
      return socket.writableLength;
    },
    onDrain: (run) => void socket.on('drain', run),
    onClose: (run) => void response.once('close', run),
    end: () => void response.end(),
    drop: () => connection.drop('unread'),
  };
}

function inTurn(turns: ReadingTurns, response: ServerResponse, connection: ClientConnection): RouteRequest['inTurn'] {
  return (work) => {
    const signal = whileOpen(response);
    const read = () => {
      connection.enter('working');
      return work(signal);
    };
    connection.enter('turn');
    return turns.take(connection.network, read, signal);
  };
}

/** Aborts when the connection closes or the answer is complete. */
function whileOpen(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort());
  if (response.destroyed) controller.abort();
  return controller.signal;
}

function createFind(routes: readonly Route[]): Find {
  const router = findMyWay({ maxParamLength: MAX_PARAM_LENGTH, onBadUrl: () => {} });
  for (const route of routes) router.on(route.method, route.path, () => {}, route);
  return (method, url) => {
    const found = router.find(method, url);
    if (found === null) return null;
    // Only a route has a store.
    if (found.store === null) return 'malformed';
    const route = found.store as Route;
    if (route.isOn?.() === false) return null;
    // An empty parameter matches no route.
    const params = found.params as Readonly<Record<string, string>>;
    return Object.values(params).includes('') ? null : { route, params };
  };
}

/** Proxies and browser histories keep URLs. */
function tokenInUrl(): Reply {
  return problem(
    'bad-request',
    'Send the token in the Authorization header, not in the URL. This token may be exposed: replace it.',
  );
}

function noRoute(find: Find, url: string): Reply {
  const found = METHODS.map((method) => [method, find(method, url)] as const);
  if (found.some(([, match]) => match === 'malformed'))
    return problem('bad-request', 'The path has an escape that is not UTF-8.');
  const allowed = found
    .flatMap(([method, match]) => (match === null ? [] : method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ');
  if (allowed === '') return problem('not-found', 'This server has no such route.');
  return problem('method-not-allowed', `This route takes ${allowed}.`, { allow: allowed });
}

function failure(error: unknown, { method, path }: Route, logger: Logger): Reply {
  if (
    error instanceof BridgeError &&
    (error.code.startsWith('BRIDGE_STORE_') || error.code.startsWith('BRIDGE_APPROVALS_'))
  ) {
    const isReading = method === 'GET';
    logger.error(
      { err: error, method, path },
      isReading ? 'a request could not be answered' : 'a request could not be stored',
    );
    const detail = `${error.code}: ${isReading ? 'the bridge cannot answer now' : 'nothing was recorded'}. Retry.`;
    return problem('unavailable', detail, { 'retry-after': String(RETRY_AFTER_SECONDS) });
  }
  logger.error({ err: error, method, path }, 'a request failed because of a fault in the bridge');
  return problem('internal', 'The bridge failed because of a fault in it; see its log.');
}
