// Routes and limits → Node's HTTP or HTTPS server behind gates and a bound on connections.
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import { BridgeError, codeOf } from '../../errors.ts';
import type { Deps } from '../../time/clock.ts';
import { createDispatch, type DispatchParts } from '../dispatch.ts';
import type { ServerTls } from '../options.ts';
import type { Route } from '../route.ts';
import { ClientCertificates } from './client-certificates.ts';
import type { Connections } from './connections.ts';
import { Gate } from './gate.ts';
import { ServerFiles } from './server-files.ts';
import { UnreadAnswers } from './unread-answers.ts';

const LIMITS: ServerOptions = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5000,
  connectionsCheckingInterval: 5000,
};
const HANDSHAKE_MS = 10_000;

export interface NodeServerParts {
  /** The key of the configuration that `listen` came from, for messages: `http.listen` or `http.health`. */
  readonly setting: string;
  /** Null for plain HTTP. */
  readonly tls: ServerTls | null;
  readonly routes: readonly Route[];
  readonly connections: Connections;
  readonly deps: Pick<Deps, 'after' | 'wallMs' | 'elapsedMs'>;
  readonly logger: Logger;
}

/** Does not listen yet. @throws BridgeError BRIDGE_HTTP_TLS */
export function createNodeServer(parts: NodeServerParts): Server {
  return parts.tls ? secureServer(parts, parts.tls) : plainServer(parts);
}

function plainServer(parts: NodeServerParts): Server {
  // Reached this way the module costs 11 MB less than by an import.
  const server = process.getBuiltinModule('node:http').createServer(LIMITS);
  const take = listenerOf(server, 'connection');
  server.on('connection', (socket: Socket) => {
    if (parts.connections.admit(socket)) enter(socket, take, parts.connections);
  });
  serve(server, parts, { isLast: () => !server.listening, certificateOf: () => null });
  return server;
}

/** Its files are looked at when a connection or a request comes: certificates are renewed without a restart, and nothing is polled. */
function secureServer(parts: NodeServerParts, tls: ServerTls): SecureServer {
  const { deps, logger, setting, connections } = parts;
  // `setting` is http.listen, and http.tls has the files.
  const files = new ServerFiles(tls, setting.replace(/\.[^.]+$/, '.tls'), deps, logger);
  const clients = new ClientCertificates(deps);
  const server = openSecureServer(files, tls, setting);
  const lookAgain = () => {
    const changed = files.changed();
    if (changed === null) return;
    server.setSecureContext(changed.context);
    if (!changed.otherClientCa) return;
    clients.forget();
    connections.closeQuiet();
  };
  const shakeHands = listenerOf(server, 'connection');
  server.on('connection', (socket: Socket) => {
    // The handshake begins with what is set then.
    lookAgain();
    if (connections.admit(socket)) shakeHands(socket);
  });
  const take = listenerOf(server, 'secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    clients.met(socket);
    enter(socket, take, connections);
  });
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
  // A certificate is optional, because tokens are accepted, too.
  const asking = clientCa === null ? {} : { requestCert: true, rejectUnauthorized: false };
  const limits = { ...LIMITS, handshakeTimeout: HANDSHAKE_MS };
  try {
    return process.getBuiltinModule('node:https').createServer({ ...limits, ...files.context, ...asking });
  } catch (cause) {
    // The cause is left out: what OpenSSL says may quote the key.
    const reason = codeOf(cause) ?? 'unreadable';
    const message = `${setting} cannot serve TLS: ${cert.origin} and ${key.origin} are not a PEM certificate and its key (${reason}). Check both files.`;
    throw new BridgeError('BRIDGE_HTTP_TLS', message);
  }
}

type Take = (connection: Socket | Gate) => void;

/** Node's own listener, which is taken off: it is to get what passes alone. Any Duplex is a connection to it (node:http, Event 'connection'). */
function listenerOf(server: Server, event: 'connection' | 'secureConnection'): Take {
  const [own] = server.listeners(event);
  server.removeAllListeners(event);
  return (connection) => {
    if (own !== undefined) Reflect.apply(own, server, [connection]);
  };
}

function enter(socket: Socket, take: Take, connections: Connections): void {
  const connection = connections.of(socket);
  if (connection === undefined) socket.destroy();
  else take(new Gate(socket, () => connection.waits('request')));
}

function serve(server: Server, parts: NodeServerParts, of: Pick<DispatchParts, 'isLast' | 'certificateOf'>): void {
  const { routes, logger, setting, deps, connections } = parts;
  const unread = new UnreadAnswers(deps);
  const dispatch = createDispatch({ routes, deps, logger, ...of });
  const answer = async (gate: Gate, request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.of(gate.socket);
    if (connection === undefined) return void gate.destroy();
    await dispatch(request, response, gate.socket, connection);
    connection.waits('answer');
    if (response.closed || gate.writableLength === 0) return;
    response.once(
      'close',
      unread.add(gate.writableLength, () => connection.drop('unread')),
    );
  };
  const hear = (request: IncomingMessage, response: ServerResponse) => {
    const gate: unknown = request.socket;
    if (!(gate instanceof Gate)) return;
    const begin = () =>
      void answer(gate, request, response).catch((error) => logger.error({ err: error }, `${setting}: an answer could not be sent`));
    gate.ask({ request, response, begin });
  };
  server.on('request', hear);
  // An unknown expectation may be ignored (RFC 9110, 10.1.1); Node's own 417 would not go through the gate.
  server.on('checkExpectation', hear);
}
