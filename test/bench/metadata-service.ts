// A document → quick answers on loopback, and the moment at which each poll was answered.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fakeDocument } from '../far-sides/metadata-service.ts';

const INSTANCE = JSON.stringify({
  compute: {
    name: 'WestNO_0',
    vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
    subscriptionId: '8d10da13-8125-4ba9-a717-bf7490507b3d',
    resourceGroupName: 'bench',
    vmScaleSetName: '',
  },
});

export type EventFields = Readonly<Record<string, unknown>>;

export class MetadataService implements AsyncDisposable {
  /** Documents given so far. */
  polls = 0;
  readonly #server: Server;
  #incarnation = 1;
  #document = fakeDocument(1);
  #whenAnswered: ((atMs: number) => void)[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      const isInstance = request.url?.startsWith('/metadata/instance') ?? false;
      const body = Buffer.from(isInstance ? INSTANCE : this.#document);
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
      if (!isInstance) this.#answered();
      response.end(body);
    });
    this.#server.keepAliveTimeout = 0;
  }

  static async start(): Promise<MetadataService> {
    const service = new MetadataService();
    service.#server.listen(0, '127.0.0.1');
    await once(service.#server, 'listening');
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Lists these events from now on. Resolves with the moment (elapsed time) at which a poll first gets them. */
  list(events: readonly EventFields[]): Promise<number> {
    this.#incarnation += 1;
    this.#document = fakeDocument(this.#incarnation, ...events);
    return this.answered();
  }

  /** The moment at which the next poll is answered. */
  answered(): Promise<number> {
    return new Promise((resolve) => this.#whenAnswered.push(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #answered(): void {
    this.polls += 1;
    const atMs = performance.now();
    for (const resolve of this.#whenAnswered.splice(0)) resolve(atMs);
  }
}
