// An address, perhaps a certificate, and routes → an HTTP server with limits; closes without cutting an answer off.
import type { RequestListener, Server, ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { BridgeError, codeOf, messageOf } from '../errors.ts';
import type { Secret } from '../secret.ts';
import type { Deps } from '../time.ts';
import { createDispatch } from './dispatch.ts';
import type { Route } from './route.ts';

const LIMITS: ServerOptions = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5000,
  connectionsCheckingInterval: 5000,
};
/** Connections beyond are dropped. */
const CONNECTIONS = 1024;
/** How long answers under way may take once the server closes. */
const CLOSE_MS = 5000;

export interface HttpServerParts {
  /** The key of the configuration that `listen` came from, for messages: `http.listen` or `http.health`. */
  readonly setting: string;
  /** Port 0: any free one. */
  readonly listen: { readonly host: string; readonly port: number };
  /** The text of PEM files; null for plain HTTP. */
  readonly tls: { readonly cert: Secret; readonly key: Secret } | null;
  readonly routes: readonly Route[];
  readonly deps: Pick<Deps, 'after'>;
  readonly logger: Logger;
}

export interface HttpServer extends AsyncDisposable {
  /** Resolves once it listens. @throws BridgeError BRIDGE_HTTP_LISTEN, BRIDGE_HTTP_TLS */
  start(): Promise<{ readonly port: number }>;
}

/** Opens nothing before `start`. */
export function createHttpServer(parts: HttpServerParts): HttpServer {
  let server: Server | null = null;
  return {
    async start() {
      server = createServer(parts);
      const { port } = await listen(server, parts);
      server.on('error', (error) => parts.logger.error({ err: error }, `${parts.setting}: the HTTP server failed`));
      return { port };
    },
    async [Symbol.asyncDispose]() {
      if (server !== null) await close(server, parts.deps);
    },
  };
}

function createServer({ tls, routes, logger, setting }: HttpServerParts): Server {
  const dispatch = createDispatch(routes, () => !server.listening, logger);
  const onRequest: RequestListener = (request, response) => {
    dispatch(request, response).catch((error) => logger.error({ err: error }, `${setting}: an answer could not be sent`));
  };
  // Reached this way the module costs 11 MB less than by an import.
  const server = tls ? secureServer(tls, setting, onRequest) : process.getBuiltinModule('node:http').createServer(LIMITS, onRequest);
  server.maxConnections = CONNECTIONS;
  return server;
}

function secureServer({ cert, key }: NonNullable<HttpServerParts['tls']>, setting: string, onRequest: RequestListener): Server {
  try {
    return process.getBuiltinModule('node:https').createServer({ ...LIMITS, cert: cert.reveal(), key: key.reveal() }, onRequest);
  } catch (cause) {
    // The cause is left out: what OpenSSL says may quote the key.
    const reason = codeOf(cause) ?? 'unreadable';
    const message = `${setting} cannot serve TLS: ${cert.origin} and ${key.origin} are not a PEM certificate and its key (${reason}). Check both files.`;
    throw new BridgeError('BRIDGE_HTTP_TLS', message);
  }
}

function listen(server: Server, { listen: { host, port }, setting }: HttpServerParts): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(listenError(cause, `${host}:${port}`, setting)));
    server.listen({ host, port }, () => {
      server.removeAllListeners('error');
      resolve(server.address() as AddressInfo);
    });
  });
}

function listenError(cause: Error, address: string, setting: string): BridgeError {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there. Stop it, or choose another port',
    EACCES: 'this user may not. Choose a port above 1023, or give the right to',
    EADDRNOTAVAIL: 'this machine has no such address. Choose one that it has',
    ENOTFOUND: 'the name does not resolve. Give an IP address',
  };
  const reason = reasons[codeOf(cause) ?? ''] ?? `${messageOf(cause)}. Choose another address`;
  return new BridgeError('BRIDGE_HTTP_LISTEN', `Cannot listen on ${address} (${setting}): ${reason}.`, { cause });
}

async function close(server: Server, deps: Pick<Deps, 'after'>): Promise<void> {
  if (!server.listening) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeIdleConnections();
  const cancel = deps.after(CLOSE_MS, () => server.closeAllConnections());
  await promise;
  cancel();
}
