// Requests to a webhook's receiver on loopback → recorded, answered as told; it can go and return.
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { poll } from '../support/poll.ts';

export interface ReceivedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** As they came: name, value, name, value … */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/**
 * How one request is answered. `hang` never answers; a function does what it likes with the response and its socket.
 */
export type Answer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'hang'
  | 'reset'
  | ((response: ServerResponse, socket: Socket, request: ReceivedRequest) => void);

export interface ReceiverOptions {
  /** PEM; with it the receiver speaks https. */
  readonly tls?: { readonly key: string; readonly cert: string } & TlsOptions;
}

export class WebhookReceiver implements AsyncDisposable {
  /** Every request whose body arrived, in order of arrival. */
  readonly requests: ReceivedRequest[] = [];
  /** TCP connections accepted so far. */
  connections = 0;
  /** The answer to requests that no `next` was queued for; 204 by default. */
  default: Answer = { status: 204 };
  readonly #options: ReceiverOptions;
  readonly #next: Answer[] = [];
  readonly #sockets = new Set<Socket>();
  #server: Server;
  #port = 0;

  private constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#server = this.#create();
  }

  static async start(options: ReceiverOptions = {}): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(options);
    await receiver.start();
    return receiver;
  }

  get url(): string {
    return `${this.#options.tls ? 'https' : 'http'}://127.0.0.1:${this.#port}/hook`;
  }

  get port(): number {
    return this.#port;
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#sockets.size;
  }

  /** Answers the next requests with these, one each, before `default` applies again. */
  next(...answers: readonly Answer[]): void {
    this.#next.push(...answers);
  }

  /** Resolves once `count` requests have arrived. */
  async waitFor(count: number): Promise<void> {
    await poll(() => this.requests.length >= count, `${count} requests at the receiver`);
  }

  /** Listens; on the same port as before, if it did. */
  async start(): Promise<void> {
    this.#server = this.#create();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Stops listening and cuts every connection. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #create(): Server {
    const handle: RequestListener = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => {});
      request.on('end', () => {
        const { method = '', url = '', headers, rawHeaders } = request;
        const received = { method, path: url, headers, rawHeaders, body: Buffer.concat(chunks) };
        this.requests.push(received);
        give(this.#next.shift() ?? this.default, response, request.socket, received);
      });
    };
    const server = this.#options.tls ? createTlsServer(this.#options.tls, handle) : createServer(handle);
    server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => {});
    });
    return server;
  }
}

function give(answer: Answer, response: ServerResponse, socket: Socket, request: ReceivedRequest): void {
  if (answer === 'hang') return;
  if (answer === 'reset') socket.resetAndDestroy();
  else if (typeof answer === 'function') answer(response, socket, request);
  else response.writeHead(answer.status, answer.headers).end(answer.body);
}
