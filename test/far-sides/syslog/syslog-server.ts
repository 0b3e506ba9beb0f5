// A test → a syslog server over each transport, which records messages and can misbehave.
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { FrameReader } from './frame-reader.ts';

export interface SyslogServerOptions {
  readonly transport: 'tls' | 'tcp' | 'udp' | 'unix';
  /** The path of its socket; required for unix. */
  readonly path?: string;
  readonly tls?: TlsOptions;
  readonly framing?: 'counted' | 'lines';
}

/** Records syslog messages without their framing. */
export class SyslogServer {
  readonly messages: Buffer[] = [];
  /** The bytes of each connection, framing included. */
  readonly connections: number[] = [];
  /** What the server does with a connection after its first data. */
  behaviour: 'read' | 'reset' | 'end' | { readonly answer: string } = 'read';
  readonly #options: SyslogServerOptions;
  readonly #sockets = new Set<Socket>();
  #server: Server | DatagramSocket | null = null;
  #port = 0;
  #isHanging = false;

  private constructor(options: SyslogServerOptions) {
    this.#options = options;
  }

  static async start(options: SyslogServerOptions): Promise<SyslogServer> {
    const server = new SyslogServer(options);
    await server.start();
    return server;
  }

  /** The value for the option `server`. */
  get url(): string {
    const { transport, path } = this.#options;
    return transport === 'unix' ? `unix:${path}` : `${transport}://127.0.0.1:${this.#port}`;
  }

  /** Listens again on the same address. */
  async start(): Promise<void> {
    const { transport, path, tls } = this.#options;
    if (transport === 'udp') return this.#startDatagrams();
    const server = transport === 'tls' ? createTlsServer(tls ?? {}) : createServer();
    server.on(transport === 'tls' ? 'secureConnection' : 'connection', (socket: Socket) => this.#take(socket));
    server.listen(transport === 'unix' ? { path } : { host: '127.0.0.1', port: this.#port });
    await once(server, 'listening');
    if (transport !== 'unix') this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Stops listening and cuts all connections. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    if (this.#options.path !== undefined) await rm(this.#options.path, { force: true });
  }

  /** Stops reading. */
  hang(): void {
    this.#isHanging = true;
    for (const socket of this.#sockets) socket.pause();
  }

  read(): void {
    this.#isHanging = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** Closes every connection, like a server that closes idle ones. */
  endConnections(): void {
    for (const socket of this.#sockets) socket.end();
  }

  async #startDatagrams(): Promise<void> {
    const socket = createSocket('udp4');
    socket.on('message', (message) => void this.messages.push(message));
    socket.bind(this.#port, '127.0.0.1');
    await once(socket, 'listening');
    this.#port = socket.address().port;
    this.#server = socket;
  }

  #take(socket: Socket): void {
    const index = this.connections.push(0) - 1;
    const frames = new FrameReader(this.#options.framing ?? 'counted');
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      this.connections[index] = (this.connections[index] ?? 0) + chunk.length;
      if (this.behaviour === 'read') this.messages.push(...frames.read(chunk));
      else this.#misbehave(socket);
    });
    if (this.#isHanging) socket.pause();
  }

  #misbehave(socket: Socket): void {
    if (this.behaviour === 'reset') socket.resetAndDestroy();
    else if (this.behaviour === 'end') socket.end();
    else if (typeof this.behaviour === 'object') socket.write(this.behaviour.answer);
  }
}
