// CONNECT requests on loopback → what a test says: connections or misbehaviour; all are recorded.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TestContext } from 'node:test';

export interface ConnectRequest {
  /** `address:port` */
  readonly authority: string;
  readonly headers: IncomingHttpHeaders;
}

/** `connect` does; a status refuses; a function does what it likes with the socket. */
export type ProxyAnswer = 'connect' | number | ((socket: Duplex, request: ConnectRequest) => void);

export interface ProxyOptions {
  /** PEM; with it the proxy speaks https. */
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly host?: string;
}

export class ConnectProxy {
  /** Every CONNECT, in order. */
  readonly requests: ConnectRequest[] = [];
  /** TCP connections accepted so far. */
  connections = 0;
  /** The answer to requests that no `next` was queued for. */
  default: ProxyAnswer = 'connect';
  readonly #next: ProxyAnswer[] = [];
  readonly #sockets = new Set<Duplex>();
  readonly #server: Server;
  readonly #scheme: string;

  private constructor({ tls }: ProxyOptions) {
    this.#scheme = tls ? 'https' : 'http';
    this.#server = tls ? createTlsServer(tls) : createServer();
    this.#server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.#keep(socket);
    });
    this.#server.on('connect', ({ url = '', headers }, socket) => {
      const request = { authority: url, headers };
      this.requests.push(request);
      this.#answer(this.#next.shift() ?? this.default, socket, request);
    });
  }

  static async start(t: TestContext, options: ProxyOptions = {}): Promise<ConnectProxy> {
    const proxy = new ConnectProxy(options);
    proxy.#server.listen(0, options.host ?? '127.0.0.1');
    await once(proxy.#server, 'listening');
    t.after(() => proxy.stop());
    return proxy;
  }

  get url(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return `${this.#scheme}://${address}:${port}`;
  }

  /** Connections that are open now, to clients and targets. */
  get open(): number {
    return this.#sockets.size;
  }

  /** Answers the next requests with these, one each, before `default` applies again. */
  next(...answers: readonly ProxyAnswer[]): void {
    this.#next.push(...answers);
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #answer(answer: ProxyAnswer, socket: Duplex, request: ConnectRequest): void {
    if (typeof answer === 'function') {
      // Sees the other side go.
      socket.resume().on('end', () => socket.destroy());
      answer(socket, request);
    } else if (typeof answer === 'number') socket.end(`HTTP/1.1 ${answer} Refused\r\nContent-Length: 2\r\n\r\nno`);
    else this.#tunnel(socket, request.authority);
  }

  #tunnel(socket: Duplex, authority: string): void {
    const { hostname, port } = new URL(`http://${authority}`);
    const target = connect(Number(port || 80), hostname.replace(/^\[|\]$/g, ''));
    this.#keep(target);
    target.on('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(target).pipe(socket);
    });
    socket.on('close', () => target.destroy());
    target.on('close', () => socket.destroy());
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => {});
  }
}
