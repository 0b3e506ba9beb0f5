// An HTTP request → the reply of its route; what no route takes, and what a route throws, becomes a problem.
import type { IncomingMessage, ServerResponse } from 'node:http';
import findMyWay from 'find-my-way';
import type { Logger } from 'pino';
import { BridgeError } from '../errors.ts';
import { readBody } from './body.ts';
import { problem } from './problem.ts';
import type { Reply, Route } from './route.ts';

const FIXED_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

export type Dispatch = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** `isClosing`: the connection ends with the answer, since one that stays open would keep a closing server waiting. */
export function createDispatch(routes: readonly Route[], isClosing: () => boolean, logger: Logger): Dispatch {
  const router = findMyWay();
  for (const route of routes) router.on(route.method, route.path, () => {}, route);
  const find = (method: Route['method'], url: string): Route | undefined => router.find(method, url)?.store;

  /** Null where the caller went away. */
  const replyTo = async (request: IncomingMessage): Promise<Reply | null> => {
    const url = request.url ?? '/';
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const route = method === 'GET' || method === 'POST' ? find(method, url) : undefined;
    if (!route) return noRoute(find('GET', url) !== undefined, find('POST', url) !== undefined);
    const { headers, socket } = request;
    try {
      return await route.handle({ headers, address: socket.remoteAddress ?? '', body: (limitBytes) => readBody(request, limitBytes) });
    } catch (error) {
      return socket.destroyed ? null : failure(error, route, logger);
    }
  };

  return async (request, response) => {
    const reply = await replyTo(request);
    if (reply === null || response.destroyed) return;
    logger.debug({ method: request.method, status: reply.status }, 'http request');
    const connection = isClosing() ? { connection: 'close' } : {};
    const length = { 'content-length': Buffer.byteLength(reply.body) };
    response.writeHead(reply.status, { ...FIXED_HEADERS, ...reply.headers, ...length, ...connection });
    response.end(request.method === 'HEAD' ? '' : reply.body);
  };
}

function noRoute(canGet: boolean, canPost: boolean): Reply {
  const allowed = [...(canGet ? ['GET', 'HEAD'] : []), ...(canPost ? ['POST'] : [])].join(', ');
  if (allowed === '') return problem(404, 'not-found', 'This server has no such route.');
  return problem(405, 'method-not-allowed', `This route takes ${allowed}.`, { allow: allowed });
}

function failure(error: unknown, { method, path }: Route, logger: Logger): Reply {
  if (error instanceof BridgeError && (error.code.startsWith('BRIDGE_STORE_') || error.code.startsWith('BRIDGE_APPROVALS_'))) {
    logger.error({ err: error, method, path }, 'a request could not be stored');
    return problem(503, 'unavailable', `${error.code}: nothing was recorded; ask again.`);
  }
  logger.error({ err: error, method, path }, 'a request failed by a mistake in the bridge');
  return problem(500, 'internal', 'The bridge failed; its log says how.');
}
