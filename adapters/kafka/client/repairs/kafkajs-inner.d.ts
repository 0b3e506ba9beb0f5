// The internal files of kafkajs 2.2.4 that the repairs use → the required types.
declare module 'kafkajs/src/network/requestQueue/index.js' {
  import { EventEmitter } from 'node:events';
  import type { Logger } from 'kafkajs';

  namespace RequestQueue {
    interface Parts {
      instrumentationEmitter: unknown;
      maxInFlightRequests: number | null;
      requestTimeout: number;
      enforceRequestTimeout: boolean;
      clientId: string;
      broker: string;
      logger: Logger;
      isConnected: () => boolean;
    }
    /** One request on its way. */
    interface SocketRequest {
      readonly correlationId: number;
      readonly requestTimeout: number;
      /** Fails it with KafkaJSRequestTimeoutError. */
      timeoutRequest(): void;
      rejected(error: unknown): void;
    }
    interface PushedRequest {
      entry: {
        apiKey: number;
        apiName: string;
        apiVersion: number;
        correlationId: number;
        resolve: (answer: unknown) => void;
        reject: (error: unknown) => void;
      };
      expectResponse: boolean;
      sendRequest: () => void;
    }
    interface Answer {
      correlationId: number;
      payload: Buffer;
      size: number;
    }
  }
  interface RequestQueue extends RequestQueue.Parts {}
  class RequestQueue extends EventEmitter {
    readonly inflight: Map<number, RequestQueue.SocketRequest>;
    readonly pending: RequestQueue.SocketRequest[];
    constructor(parts: RequestQueue.Parts);
    push(request: RequestQueue.PushedRequest): void;
    maybeThrottle(milliseconds: number | null | undefined): void;
    sendSocketRequest(request: RequestQueue.SocketRequest): void;
    fulfillRequest(answer: RequestQueue.Answer): void;
    rejectAll(error: unknown): void;
    waitForPendingRequests(): Promise<void>;
    destroy(): void;
    canSendSocketRequestImmediately(): boolean;
    checkPendingRequests(): void;
    scheduleCheckPendingRequests(): void;
  }
  export = RequestQueue;
}

declare module 'kafkajs/src/network/connection.js' {
  import type { Socket } from 'node:net';
  import type { ISocketFactory, Logger } from 'kafkajs';
  import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

  namespace Connection {
    type Own = 'host' | 'port' | 'rack' | 'clientId' | 'logger' | 'socketFactory' | 'ssl' | 'sasl';
    type Limits = 'requestTimeout' | 'connectionTimeout' | 'reauthenticationThreshold';
    type OfQueue = 'enforceRequestTimeout' | 'maxInFlightRequests' | 'instrumentationEmitter';
    type Parts = Pick<Connection, Own | Limits> & Pick<RequestQueue.Parts, OfQueue>;
    interface ProtocolRequest {
      readonly request: { readonly apiKey: number };
    }
  }
  class Connection {
    host: string;
    port: number;
    rack: string | null;
    clientId: string;
    /** `host:port` */
    broker: string;
    logger: Logger;
    socketFactory: ISocketFactory;
    ssl: unknown;
    sasl: unknown;
    requestTimeout: number;
    connectionTimeout: number;
    /** In milliseconds before the end of the session. */
    reauthenticationThreshold: number;
    bytesBuffered: number;
    bytesNeeded: number;
    chunks: Buffer[];
    connectionStatus: 'connected' | 'disconnecting' | 'disconnected';
    requestQueue: RequestQueue;
    authHandlers: { onError(): void } | null;
    authenticatedAt: [number, number] | null;
    /** A Long of milliseconds; 0 for no end. */
    sessionLifetime: { toString(): string };
    socket: Socket | undefined;
    constructor(parts: Connection.Parts);
    logDebug(message: string, extra?: object): void;
    logError(message: string, extra?: object): void;
    isConnected(): boolean;
    isAuthenticated(): boolean;
    connect(): Promise<boolean>;
    disconnect(): Promise<boolean>;
    authenticate(): Promise<void>;
    send(request: Connection.ProtocolRequest): Promise<unknown>;
    processData(data: Buffer): void;
  }
  export = Connection;
}

declare module 'kafkajs/src/network/connectionPool.js' {
  import type { ISocketFactory } from 'kafkajs';
  import Connection from 'kafkajs/src/network/connection.js';

  class ConnectionPool {
    host: string;
    port: number;
    socketFactory: ISocketFactory;
    pool: Connection[];
    getConnection(index?: number): Promise<Connection>;
    send(exchange: {
      readonly request: { readonly apiKey: number };
      readonly response: { readonly parse: (answer: unknown) => Promise<unknown> };
    }): Promise<unknown>;
  }
  export = ConnectionPool;
}

declare module 'kafkajs/src/cluster/brokerPool.js' {
  import ConnectionPool from 'kafkajs/src/network/connectionPool.js';

  class BrokerPool {
    readonly brokers: Readonly<Record<string, unknown>>;
    seedBroker:
      | { readonly connectionPool: ConnectionPool; readonly versions: object | null; connect(): Promise<void> }
      | undefined;
    versions: object | null;
    hasConnectedBrokers(): boolean;
    /** The next of the configured ones. */
    createSeedBroker(): Promise<void>;
    connect(): Promise<void>;
    /** Connects to it. */
    findBroker(of: { nodeId: string }): Promise<unknown>;
    withBroker(ask: (of: { nodeId: string; broker: unknown }) => Promise<unknown>): Promise<unknown>;
  }
  export = BrokerPool;
}

declare module 'kafkajs/src/protocol/error.js' {
  const protocolErrors: { errorCodes: { type: string; code: number; retriable: boolean; message: string }[] };
  export = protocolErrors;
}

declare module 'kafkajs/src/errors.js' {
  import type { KafkaJSConnectionErrorMetadata } from 'kafkajs';

  class KafkaJSConnectionError extends Error {
    readonly broker: string;
    readonly code: string | undefined;
    constructor(message: string, metadata?: KafkaJSConnectionErrorMetadata);
  }
  class KafkaJSConnectionClosedError extends KafkaJSConnectionError {
    constructor(message: string, metadata: { host: string; port: number });
  }
  class KafkaJSSASLAuthenticationError extends Error {}
  const errors: {
    KafkaJSConnectionError: typeof KafkaJSConnectionError;
    KafkaJSConnectionClosedError: typeof KafkaJSConnectionClosedError;
    KafkaJSSASLAuthenticationError: typeof KafkaJSSASLAuthenticationError;
  };
  export = errors;
}
