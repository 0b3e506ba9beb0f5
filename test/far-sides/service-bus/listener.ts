// A port on loopback, plain or TLS → AMQP connections over TCP or WebSockets.
import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import type { Connection, ConnectionOptions, Container } from 'rhea';
import rhea from 'rhea';
import type { Broker } from './broker.ts';
import { BrokerConnection } from './broker-connection.ts';
import { answerEntityFeed } from './entity-feed.ts';
import { acceptWebSocket } from './web-socket.ts';

/** PEM texts. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface ListenerOptions {
  readonly host: string;
  readonly transport: 'amqp' | 'websocket';
  readonly tls?: ServerCertificate;
}

/** rhea's own servers settle, accept and grant by themselves; everything here is decided by the links. */
const OPTIONS = {
  require_sasl: true,
  session_buffer_size: 8192,
  receiver_options: { autoaccept: false, autosettle: false, credit_window: 0 },
  sender_options: { autosettle: false, treat_modified_as_released: false },
};

export class Listener {
  /** Open connections. */
  readonly connections = new Map<Duplex, BrokerConnection>();
  /** While true, connections are taken and nothing is ever answered. */
  silent = false;
  readonly #broker: Broker;
  readonly #options: ListenerOptions;
  readonly #container: Container = rhea.create_container({ id: 'test-namespace' });
  readonly #sockets = new Set<Socket>();
  #server: Server | HttpServer | null = null;
  #port = 0;

  constructor(broker: Broker, options: ListenerOptions) {
    this.#broker = broker;
    this.#options = options;
    this.#container.sasl_server_mechanisms.enable_anonymous();
    this.#container.on('error', (error: Error) => broker.protocolErrors.push(error));
  }

  get port(): number {
    return this.#port;
  }

  /** Listens; on the same port as before, if it did. */
  async start(): Promise<void> {
    this.#server = this.#create();
    this.#server.on('connection', (socket: Socket) => this.#track(socket));
    this.#server.listen(this.#port, this.#options.host);
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Closes the port and cuts every connection. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (!server) return;
    const closed = once(server, 'close');
    server.close();
    this.cut();
    await closed;
  }

  /** Destroys every socket; the port stays open. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #create(): Server | HttpServer {
    const { tls, transport } = this.#options;
    if (transport === 'websocket') {
      const answer = (request: IncomingMessage, response: ServerResponse) =>
        answerEntityFeed(this.#broker, request, response);
      const server = tls ? createHttpsServer({ ...tls }, answer) : createHttpServer(answer);
      server.on('upgrade', (request, socket: Duplex) => {
        const stream = acceptWebSocket(request, socket);
        if (stream) this.#accept(stream, 'websocket');
      });
      return server;
    }
    if (tls) return createTlsServer({ ...tls }, (socket) => this.#accept(socket, 'tls')).on('tlsClientError', () => {});
    return createServer((socket) => this.#accept(socket, 'tcp'));
  }

  #track(socket: Socket): void {
    socket.setNoDelay(true);
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #accept(stream: Duplex, transport: 'tcp' | 'tls' | 'websocket'): void {
    this.#broker.contacts.push({ what: 'connection', transport });
    stream.on('error', () => {});
    if (this.silent) {
      stream.resume();
      return;
    }
    const connection = this.#container.create_connection(OPTIONS as unknown as ConnectionOptions);
    const peer = new BrokerConnection(this.#broker, connection, () => stream.destroy());
    this.connections.set(stream, peer);
    stream.on('close', () => this.#ended(stream, connection, peer));
    connection['accept'](stream);
  }

  #ended(stream: Duplex, connection: Connection, peer: BrokerConnection): void {
    this.#broker.contacts.push({ what: 'disconnection' });
    this.connections.delete(stream);
    peer.ended();
    // rhea does not hear of a socket that its own side destroyed, and its heartbeat would go on.
    connection['_disconnected']();
  }
}
