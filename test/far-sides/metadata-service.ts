// Answers that a test scripts, well-formed or not → a metadata service, and what it was asked.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface FakeRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type FakeAnswer =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: string | Uint8Array }
  /** The connection is cut without a byte of an answer. */
  | 'reset'
  /** No answer; the response waits in `held`. */
  | 'hold'
  /** A promised length of 1,000 bytes, cut after these. */
  | { readonly truncated: string }
  /** These bytes instead of an HTTP answer, then the end of the connection. */
  | { readonly raw: string };

type Responder = (request: FakeRequest) => FakeAnswer;

export class FakeMetadata {
  readonly requests: FakeRequest[] = [];
  /** Responses that a test has to finish itself. */
  readonly held: ServerResponse[] = [];
  /** Connections accepted so far. */
  connections = 0;
  /** What is answered when nothing is queued. */
  respond: Responder = () => ({ body: fakeDocument(1) });
  readonly #queue: (FakeAnswer | Responder)[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #waiting: (() => void)[] = [];
  #port = 0;

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
    this.#server.keepAliveTimeout = 0;
    this.#server.on('connection', (socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** Listens on a free port until the test ends. */
  static async start(t: TestContext): Promise<FakeMetadata> {
    const fake = new FakeMetadata();
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    fake.#port = (fake.#server.address() as AddressInfo).port;
    t.after(() => fake.stop());
    return fake;
  }

  /** Without a slash at its end. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Queues answers for the next requests, in order. */
  next(...answers: (FakeAnswer | Responder)[]): this {
    this.#queue.push(...answers);
    return this;
  }

  /** Resolves at the next request. */
  requested(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Cuts every connection, the idle ones too. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #answer(incoming: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const request = {
        method: incoming.method ?? '',
        path: incoming.url ?? '',
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString(),
      };
      this.requests.push(request);
      const queued = this.#queue.shift() ?? this.respond;
      this.#give(typeof queued === 'function' ? queued(request) : queued, response);
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  #give(answer: FakeAnswer, response: ServerResponse): void {
    const socket = response.socket;
    if (answer === 'hold') {
      this.held.push(response);
    } else if (answer === 'reset') {
      socket?.resetAndDestroy();
    } else if ('raw' in answer) {
      socket?.end(answer.raw, 'latin1');
    } else if ('truncated' in answer) {
      response.writeHead(200, { 'Content-Length': '1000' });
      response.write(answer.truncated, () => socket?.destroy());
    } else {
      const body = Buffer.from(answer.body ?? '');
      response.writeHead(answer.status ?? 200, { 'Content-Length': body.length, ...answer.headers });
      response.end(body);
    }
  }
}

/** The text of a document; each event is filled in from the documentation's example. */
export function fakeDocument(incarnation: unknown, ...events: readonly Record<string, unknown>[]): string {
  return JSON.stringify({
    DocumentIncarnation: incarnation,
    Events: events.map((event) => ({ ...EXAMPLE_EVENT, ...event })),
  });
}

/** The event of the documentation's example (protocol 5.12). */
export const EXAMPLE_EVENT = {
  EventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
  EventStatus: 'Scheduled',
  EventType: 'Freeze',
  ResourceType: 'VirtualMachine',
  Resources: ['WestNO_0', 'WestNO_1'],
  NotBefore: 'Mon, 11 Apr 2022 22:26:58 GMT',
  Description: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
  EventSource: 'Platform',
  DurationInSeconds: 5,
} as const;
