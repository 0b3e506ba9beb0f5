// A script → a server that speaks enough of Kafka's protocol to connect, and fails as told.
import { createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { API, array, FrameSplitter, frame, int16, int32, int64, string, WireReader } from './wire.ts';

export interface ScriptedRequest {
  readonly api: keyof typeof API;
  readonly correlationId: number;
  /** Counted from 1. */
  readonly connection: number;
  readonly socket: Socket;
  /** All of it, its head too. */
  readonly bytes: Buffer;
}

/** Bytes to send in place of the usual answer, an empty list for none; undefined: the usual answer. */
export type Script = (request: ScriptedRequest) => readonly Buffer[] | undefined;

interface Broker {
  readonly host: string;
  readonly port: number;
}

export interface ScriptedBrokerOptions {
  readonly host?: string;
  /** Keeps its half of a connection open when the client has closed its own. */
  readonly keepsHalfOpen?: boolean;
}

const VERSIONS: readonly (readonly [keyof typeof API, number])[] = [
  ['apiVersions', 2],
  ['metadata', 6],
  ['findCoordinator', 1],
  ['saslHandshake', 1],
  ['saslAuthenticate', 1],
];
const NOTHING = Buffer.from([0xff, 0xff]);

export class ScriptedBroker {
  readonly requests: ScriptedRequest[] = [];
  readonly sockets = new Set<Socket>();
  /** Of all times. */
  connections = 0;
  script: Script = () => undefined;
  readonly #server: Server;
  readonly #host: string;

  private constructor({ host = '127.0.0.1', keepsHalfOpen = false }: ScriptedBrokerOptions) {
    this.#host = host;
    this.#server = createServer({ allowHalfOpen: keepsHalfOpen }, (socket) => this.#serve(socket));
  }

  static async start(t: TestContext, options: ScriptedBrokerOptions = {}): Promise<ScriptedBroker> {
    const broker = new ScriptedBroker(options);
    await new Promise<void>((resolve) => broker.#server.listen(0, broker.#host, resolve));
    t.after(() => broker.stop());
    return broker;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** As options hold it. */
  get broker(): Broker {
    return { host: this.#host, port: this.port };
  }

  count(api: keyof typeof API): number {
    return this.requests.filter((request) => request.api === api).length;
  }

  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket): void {
    this.connections += 1;
    const connection = this.connections;
    const splitter = new FrameSplitter();
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      for (const bytes of splitter.push(chunk)) this.#answer(bytes, connection, socket);
    });
  }

  #answer(bytes: Buffer, connection: number, socket: Socket): void {
    const reader = new WireReader(bytes);
    const api = nameOf(reader.int16());
    reader.int16();
    const request = { api, correlationId: reader.int32(), connection, socket, bytes };
    this.requests.push(request);
    const said = this.script(request) ?? [answer(request, this.#usual(api))];
    for (const part of said) socket.write(part);
  }

  #usual(api: keyof typeof API): Buffer {
    if (api === 'apiVersions')
      return Buffer.concat([int16(0), array(VERSIONS.map(([name, most]) => versions(name, most))), int32(0)]);
    if (api === 'metadata') return this.metadata();
    if (api === 'saslHandshake') return Buffer.concat([int16(0), array(['PLAIN', 'OAUTHBEARER'].map(string))]);
    return authenticated(0);
  }

  /** This broker, or these ones, and no topics. */
  metadata({
    throttleMs = 0,
    brokers = [this.broker],
  }: {
    throttleMs?: number;
    brokers?: readonly Broker[];
  } = {}): Buffer {
    const known = brokers.map(({ host, port }, index) =>
      Buffer.concat([int32(index + 1), string(host), int32(port), NOTHING]),
    );
    return Buffer.concat([int32(throttleMs), array(known), NOTHING, int32(1), array([])]);
  }
}

/** A whole answer as it goes over the wire. */
export function answer({ correlationId }: Pick<ScriptedRequest, 'correlationId'>, body: Buffer): Buffer {
  return frame(int32(correlationId), body);
}

/** For saslAuthenticate. */
export function authenticated(sessionMs: number): Buffer {
  return Buffer.concat([int16(0), NOTHING, int32(0), int64(BigInt(sessionMs))]);
}

/** For saslAuthenticate: SASL_AUTHENTICATION_FAILED. */
export function refused(why: string): Buffer {
  return Buffer.concat([int16(58), string(why), int32(0), int64(0n)]);
}

function versions(name: keyof typeof API, most: number): Buffer {
  return Buffer.concat([int16(API[name]), int16(0), int16(most)]);
}

function nameOf(key: number): keyof typeof API {
  const [name] = Object.entries(API).find(([, value]) => value === key) ?? [];
  return (name ?? 'apiVersions') as keyof typeof API;
}
