// kafkajs's connection → the same, with one socket at a time and a clean buffer (README.md).
import type { Socket } from 'node:net';
import errors from 'kafkajs/src/errors.js';
import Connection from 'kafkajs/src/network/connection.js';
import { codeOf, messageOf } from '../../../../src/errors.ts';
import type { Deps } from '../../../../src/time/clock.ts';
import { showBroker } from '../../options/broker-address.ts';
import { RepairedRequestQueue } from './repaired-request-queue.ts';

/** Time limit for the broker to close its side. */
const CLOSE_MS = 1000;
/** The maximum length of an answer. The first bytes of other protocols give a larger length. */
const LONGEST_FRAME = 256 * 1024 ** 2;
const REAUTHENTICATE_BEFORE_MS = 10_000;
/** ApiVersions, SaslHandshake and SaslAuthenticate are sent before authentication. */
const BEFORE_AUTHENTICATION = [18, 17, 36];

export class RepairedConnection extends Connection {
  readonly #deps: Pick<Deps, 'elapsedMs' | 'after'>;
  #connecting: Promise<boolean> | null = null;
  #closing: Promise<boolean> | null = null;
  #failure: Error | null = null;
  /** Rejects `#connecting`. */
  #rejectConnecting: (error: Error) => void = () => {};

  constructor(original: Connection, host: string, deps: Pick<Deps, 'elapsedMs' | 'after'>) {
    const { port, rack, clientId, logger, socketFactory, ssl, sasl, requestTimeout, connectionTimeout, requestQueue } =
      original;
    const { enforceRequestTimeout, maxInFlightRequests, instrumentationEmitter } = requestQueue;
    const own = { host, port, rack, clientId, logger, socketFactory, ssl, sasl };
    const limits = { requestTimeout, connectionTimeout, reauthenticationThreshold: REAUTHENTICATE_BEFORE_MS };
    super({ ...own, ...limits, enforceRequestTimeout, maxInFlightRequests, instrumentationEmitter });
    this.#deps = deps;
    this.broker = showBroker({ host, port });
    this.requestQueue.broker = this.broker;
    this.requestQueue = new RepairedRequestQueue(this.requestQueue, deps, () => this.#timedOut());
  }

  /** False during a close: a request would never be sent, or would prevent the close. */
  override isConnected(): boolean {
    return this.connectionStatus === 'connected';
  }

  override async connect(): Promise<boolean> {
    await this.#closing;
    if (this.isConnected()) return true;
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = null;
    });
    return await this.#connecting;
  }

  override async disconnect(): Promise<boolean> {
    if (this.connectionStatus === 'disconnected') {
      this.#fail(new errors.KafkaJSConnectionError('Connection closed', { broker: this.broker }));
      return true;
    }
    this.#closing ??= this.#close().finally(() => {
      this.#closing = null;
    });
    return await this.#closing;
  }

  /**
   * Closes the connection if authentication fails: the broker closes it, or answers another attempt with
   * ILLEGAL_SASL_STATE.
   */
  override async authenticate(): Promise<void> {
    this.#failure = null;
    try {
      await super.authenticate();
    } catch (error) {
      // A connection that breaks during authentication does not mean wrong credentials.
      const failure = this.#failure ?? error;
      this.disconnect().catch(() => {});
      throw failure;
    }
    const sessionMs = Number(this.sessionLifetime.toString());
    // Otherwise a shorter session would be renewed before each request.
    if (sessionMs > 0) this.reauthenticationThreshold = Math.min(REAUTHENTICATE_BEFORE_MS, sessionMs / 4);
  }

  override async send(request: Connection.ProtocolRequest): Promise<unknown> {
    const { apiKey } = request.request;
    if (this.sasl && !this.isAuthenticated() && !BEFORE_AUTHENTICATION.includes(apiKey)) await this.authenticate();
    return await super.send(request);
  }

  #open(): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    this.authenticatedAt = null;
    this.logDebug('Connecting', { ssl: !!this.ssl, sasl: !!this.sasl });
    const cancel = this.#deps.after(this.connectionTimeout, () =>
      this.#fail(this.#error('Connection timeout', { code: 'ETIMEDOUT' })),
    );
    this.#rejectConnecting = reject;
    try {
      const socket = this.#listen(() => {
        if (this.socket !== socket) return;
        this.connectionStatus = 'connected';
        resolve(true);
      });
    } catch (error) {
      this.#fail(this.#error(`Failed to connect: ${messageOf(error)}`, { cause: error }));
    }
    return promise.finally(cancel);
  }

  /** Opens a socket, and ignores its events after it is replaced. */
  #listen(onConnect: () => void): Socket {
    const socket = this.socketFactory({ host: this.host, port: this.port, ssl: this.ssl as object, onConnect });
    this.socket = socket;
    const ifOurs = (error: () => Error) => {
      if (this.socket === socket) this.#fail(error());
    };
    const closed = () => ifOurs(() => this.#closedError());
    socket.on('data', (data: Buffer) => this.socket === socket && this.#read(data));
    // Before the connection is open, an error with more details follows.
    socket.on('end', () => this.connectionStatus !== 'disconnected' && closed());
    socket.on('close', closed);
    socket.on('error', (cause) =>
      ifOurs(() => this.#error(`Connection error: ${messageOf(cause)}`, { code: codeOf(cause), cause })),
    );
    return socket;
  }

  #read(data: Buffer): void {
    const foreign = this.bytesBuffered === 0 && !this.authHandlers ? foreignProtocolIn(data) : null;
    try {
      if (foreign !== null) this.#fail(this.#error(foreign.message, foreign));
      else this.processData(data);
    } catch (cause) {
      this.#fail(this.#error(`Unreadable answer: ${messageOf(cause)}`, { cause }));
    }
  }

  async #close(): Promise<boolean> {
    this.authenticatedAt = null;
    this.connectionStatus = 'disconnecting';
    this.logDebug('disconnecting...');
    await this.requestQueue.waitForPendingRequests();
    this.#dropSocket();
    return true;
  }

  #timedOut(): void {
    this.#fail(this.#error('Connection given up: an earlier request was not answered in time', { code: 'ETIMEDOUT' }));
  }

  /** Fails everything that waits for this connection. */
  #fail(error: Error): void {
    if (this.socket !== undefined) this.logError(error.message);
    this.#failure = error;
    this.#dropSocket();
    this.#rejectConnecting(error);
    this.authHandlers?.onError();
    this.requestQueue.rejectAll(error);
  }

  #dropSocket(): void {
    const { socket } = this;
    const wasConnected = this.connectionStatus !== 'disconnected';
    this.socket = undefined;
    this.connectionStatus = 'disconnected';
    this.authenticatedAt = null;
    this.chunks = [];
    this.bytesBuffered = 0;
    this.bytesNeeded = 4;
    this.requestQueue.destroy();
    if (socket === undefined || socket.destroyed) return;
    // A socket that never connected, or with unsent bytes, would wait before it ends.
    if (!wasConnected || socket.writableLength > 0) return void socket.destroy();
    socket.end();
    socket.unref();
    const cancel = this.#deps.after(CLOSE_MS, () => socket.destroy());
    socket.once('close', cancel);
  }

  #closedError(): Error {
    if (!this.isConnected()) return this.#error('Connection closed by the broker before it was made', {});
    return new errors.KafkaJSConnectionClosedError('Closed connection', {
      host: showBroker({ host: this.host, port: null }),
      port: this.port,
    });
  }

  #error(message: string, { code, cause }: { readonly code?: string | undefined; readonly cause?: unknown }): Error {
    const error = new errors.KafkaJSConnectionError(message, {
      broker: this.broker,
      ...(code !== undefined && { code }),
    });
    return cause === undefined ? error : Object.assign(error, { cause });
  }
}

/**
 * Returns the error of bytes that are not a broker's answer, such as a TLS alert. kafkajs would take them for a length
 * of gigabytes.
 */
function foreignProtocolIn(data: Buffer): { readonly message: string; readonly code: string } | null {
  if (data.length < 4) return null;
  if (data[0] === 0x15 && data[1] === 0x03)
    return { message: 'Connection error: the broker speaks TLS', code: 'BROKER_SPEAKS_TLS' };
  const length = data.readInt32BE(0);
  if (length >= 0 && length <= LONGEST_FRAME) return null;
  return { message: "Connection error: the other side does not speak Kafka's protocol", code: 'NOT_A_BROKER' };
}
