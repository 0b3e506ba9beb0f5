// An address, perhaps a certificate, and routes → an HTTP server with limits; closes without cutting an answer off.
import type { Server, ServerOptions } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { BridgeError, codeOf, messageOf } from '../errors.ts';
import type { Deps } from '../time.ts';
import { ClientCertificates } from './client-certificates.ts';
import { createDispatch, type DispatchParts } from './dispatch.ts';
import type { Route } from './route.ts';
import { ServerFiles, type ServerTls } from './server-files.ts';

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
  /** Null for plain HTTP. */
  readonly tls: ServerTls | null;
  readonly routes: readonly Route[];
  readonly deps: Pick<Deps, 'after' | 'wallMs' | 'elapsedMs'>;
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

function createServer(parts: HttpServerParts): Server {
  const server = parts.tls ? secureServer(parts, parts.tls) : plainServer(parts);
  server.maxConnections = CONNECTIONS;
  return server;
}

function plainServer(parts: HttpServerParts): Server {
  // Reached this way the module costs 11 MB less than by an import.
  const server = process.getBuiltinModule('node:http').createServer(LIMITS);
  serve(server, parts, { isLast: () => !server.listening, certificateOf: () => null });
  return server;
}

/** Its files are looked at when a connection or a request comes: certificates are renewed without a restart, and nothing is polled. */
function secureServer(parts: HttpServerParts, tls: ServerTls): SecureServer {
  const { deps, logger, setting } = parts;
  // `setting` is http.listen: the files stand beside it.
  const files = new ServerFiles(tls, setting.replace(/\.[^.]+$/, '.tls'), deps, logger);
  const clients = new ClientCertificates(deps);
  const server = openSecureServer(files, tls, setting);
  const lookAgain = () => {
    const changed = files.changed();
    if (changed === null) return;
    server.setSecureContext(changed.context);
    if (!changed.otherClientCa) return;
    clients.forget();
    server.closeIdleConnections();
  };
  // Before node's own listener begins the handshake with what is set then.
  server.prependListener('connection', lookAgain);
  server.on('secureConnection', (socket) => clients.met(socket));
  serve(server, parts, {
    isLast: (socket) => !server.listening || clients.isForgotten(socket),
    certificateOf: (socket) => {
      lookAgain();
      return clients.of(socket);
    },
  });
  return server;
}

function openSecureServer(files: ServerFiles, { cert, key, clientCa }: ServerTls, setting: string): SecureServer {
  // Nobody is kept out for want of a certificate: tokens are taken, too.
  const asking = clientCa === null ? {} : { requestCert: true, rejectUnauthorized: false };
  try {
    return process.getBuiltinModule('node:https').createServer({ ...LIMITS, ...files.context, ...asking });
  } catch (cause) {
    // The cause is left out: what OpenSSL says may quote the key.
    const reason = codeOf(cause) ?? 'unreadable';
    const message = `${setting} cannot serve TLS: ${cert.origin} and ${key.origin} are not a PEM certificate and its key (${reason}). Check both files.`;
    throw new BridgeError('BRIDGE_HTTP_TLS', message);
  }
}

function serve(server: Server, { routes, logger, setting }: HttpServerParts, of: Pick<DispatchParts, 'isLast' | 'certificateOf'>): void {
  const dispatch = createDispatch({ routes, logger, ...of });
  server.on('request', (request, response) => {
    dispatch(request, response).catch((error) => logger.error({ err: error }, `${setting}: an answer could not be sent`));
  });
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
