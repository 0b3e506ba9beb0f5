// Connections and a handler → an HTTP server that handles one request of each, within limits.
import type { Server as HttpServer, IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { type ClientConnection, Guard, type GuardOptions } from './guard.ts';
import { RequestGate } from './request-gate.ts';

/** Where a server listens. */
export interface ListenAddress {
  /** Without brackets. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

export interface GuardedServerOptions extends GuardOptions {
  /** Resolves when the answer was written. It is not called for a connection that has closed. */
  readonly handle: (request: IncomingMessage, response: ServerResponse, connection: ClientConnection) => Promise<void>;
  /** A request could not be answered, or the server failed. */
  readonly onFailed: (error: unknown) => void;
  /** Does the TLS handshake and calls `begin` with its socket. Default: plain HTTP. */
  readonly secure?: (tcp: Socket, begin: (secured: Socket) => void) => void;
}

/** Opens nothing before `listen`. */
export class GuardedServer {
  readonly #options: GuardedServerOptions;
  readonly #guard: Guard;
  #listener: Server | null = null;

  constructor(options: GuardedServerOptions) {
    this.#options = options;
    this.#guard = new Guard(options);
  }

  get isListening(): boolean {
    return this.#listener?.listening === true;
  }

  /** Rejects with Node's error if it cannot listen there. */
  async listen({ host, port }: ListenAddress): Promise<AddressInfo> {
    const http = this.#httpServer();
    // Half open, as Node's own HTTP server: a client may end its side before it has read the answer.
    const listener = process
      .getBuiltinModule('node:net')
      .createServer({ allowHalfOpen: true, noDelay: true }, (tcp) => this.#admit(tcp, http));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    listener.once('error', reject).listen({ host, port }, resolve);
    await promise;
    listener.off('error', reject).on('error', this.#options.onFailed);
    this.#listener = listener;
    return listener.address() as AddressInfo;
  }

  /** Closes the connections without a request or an answer, and the others after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    if (!this.isListening) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#listener?.close(() => resolve());
    this.#guard.close();
    if (graceMs === 0) this.#guard.closeAll();
    const cancel = this.#options.deps.after(graceMs, () => this.#guard.closeAll());
    await promise;
    cancel();
  }

  closeQuiet(): void {
    this.#guard.closeQuiet();
  }

  /**
   * It never listens: each connection that was admitted is given to it (node:http, Event 'connection'). Time limits are
   * the guard's.
   */
  #httpServer(): HttpServer {
    const limits: ServerOptions = { maxHeaderSize: 16 * 1024, keepAliveTimeout: this.#options.keepAliveMs };
    // Reached this way the module costs 11 MB less than by an import.
    const http = process.getBuiltinModule('node:http').createServer(limits);
    const ask = (request: IncomingMessage, response: ServerResponse) => {
      const gate: unknown = request.socket;
      if (!(gate instanceof RequestGate)) return;
      gate.ask({
        request,
        response,
        begin: () => void this.#answer(gate, request, response).catch(this.#options.onFailed),
      });
    };
    http.on('request', ask);
    // An unknown expectation may be ignored (RFC 9110, 10.1.1); Node's own 417 would not go through the gate.
    http.on('checkExpectation', ask);
    return http;
  }

  #admit(tcp: Socket, http: HttpServer): void {
    const connection = this.#guard.admit(tcp);
    if (connection === null) return;
    const begin = (socket: Socket) => {
      connection.begin(socket);
      http.emit('connection', new RequestGate(socket, connection));
    };
    if (this.#options.secure === undefined) begin(tcp);
    else this.#options.secure(tcp, begin);
  }

  async #answer(gate: RequestGate, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (gate.connection.hasEnded) return void gate.destroy();
    gate.connection.enter('working');
    await this.#options.handle(request, response, gate.connection);
    if (!response.closed) gate.connection.enter('unread', gate.writableLength);
  }
}

/**
 * Resolves with null if the body is longer than `limitBytes`. The rest is then read and discarded, so that the answer
 * arrives.
 */
export async function receiveBody(
  request: IncomingMessage,
  connection: ClientConnection,
  limitBytes: number,
): Promise<Uint8Array | null> {
  const parts: Buffer[] = [];
  let isTooLarge = Number(request.headers['content-length'] ?? 0) > limitBytes;
  if (!isTooLarge) {
    let length = 0;
    if (!request.complete) connection.enter('body');
    for await (const part of request.iterator({ destroyOnReturn: false })) {
      length += part.length;
      isTooLarge = length > limitBytes;
      if (isTooLarge) break;
      parts.push(part);
    }
    connection.enter('working');
  }
  if (!isTooLarge) return Buffer.concat(parts);
  request.resume();
  return null;
}
