// Brokers → addresses on loopback that lead to them: counts what passes, misbehaves as told.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { poll } from '../../support/poll.ts';
import { PortBlock } from './ports.ts';
import {
  type ProducedPartition,
  produceError,
  type RequestHeader,
  readHeader,
  readProduce,
  throttled,
  withAddresses,
} from './proxied-answers.ts';
import { API, FrameSplitter, frame } from './wire.ts';

export type ApiName = keyof typeof API;

export interface ProxiedRequest extends RequestHeader {
  /** `host:port` of the broker that it was meant for. */
  readonly broker: string;
  /** Where its records go; none for all but produce requests. */
  readonly partitions: readonly ProducedPartition[];
}

/**
 * What becomes of a request. `cut before`: the connection goes, and the broker never has it. `cut after`: the
 * connection goes when the broker answers. `drop`: the broker never has it, and no answer comes. `swallow`: the broker
 * has it, and no answer comes. A hold: the answer, and all behind it on its connection, waits. `error`, for produce
 * requests: the broker never has it, and the answer is this number of Kafka's for each partition. `throttleMs`, for
 * produce requests: the broker's answer says so.
 */
export type Fault =
  | 'cut before'
  | 'cut after'
  | 'drop'
  | 'swallow'
  | Hold
  | { readonly error: number }
  | { readonly throttleMs: number };

/** An answer that is kept back. */
export class Hold {
  readonly #reached = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();

  /** Resolves when the broker has answered. */
  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  release(): void {
    this.#released.resolve();
  }

  /** Of the proxy. */
  async pass(): Promise<void> {
    this.#reached.resolve();
    await this.#released.promise;
  }
}

export interface ProxyOptions {
  /** `host:port` that clients are told to find every broker at, instead of the proxy's own. */
  readonly advertised?: string;
}

export class KafkaProxy {
  /** All that came, in order. */
  readonly requests: ProxiedRequest[] = [];
  /** Connections of clients so far. */
  connections = 0;
  /** Asked for each request that no `next` was queued for. */
  rule: (request: ProxiedRequest) => Fault | undefined = () => undefined;
  readonly #next = new Map<number, Fault[]>();
  readonly #targets: readonly string[];
  readonly #ports: PortBlock;
  readonly #options: ProxyOptions;
  readonly #clients = new Set<Socket>();
  #servers: Server[] = [];
  #fault: unknown;

  private constructor(targets: readonly string[], ports: PortBlock, options: ProxyOptions) {
    this.#targets = targets;
    this.#ports = ports;
    this.#options = options;
  }

  /**
   * @param targets `host:port` of the brokers, as they call themselves. The test fails if a client speaks a version
   * that is unknown here.
   */
  static async start(t: TestContext, targets: readonly string[], options: ProxyOptions = {}): Promise<KafkaProxy> {
    const proxy = new KafkaProxy(targets, await PortBlock.claim(), options);
    await proxy.accept();
    t.after(() => {
      proxy.refuse();
      proxy.#ports[Symbol.dispose]();
      if (proxy.#fault) throw proxy.#fault;
    });
    return proxy;
  }

  /** `host:port` for each broker, in their order. */
  get brokers(): readonly string[] {
    return this.#targets.map((_, index) => this.#address(index));
  }

  /** Connections of clients that are open now. */
  get open(): number {
    return this.#clients.size;
  }

  /** So many requests of this kind came. */
  count(api: ApiName): number {
    return this.requests.filter((request) => request.api === API[api]).length;
  }

  /** Resolves once so many requests of this kind came. */
  async until(api: ApiName, count: number): Promise<void> {
    await poll(() => this.count(api) >= count, `${count} ${api} requests`);
  }

  /** What becomes of the next requests of this kind, one each, before `rule` is asked again. */
  next(api: ApiName, ...faults: readonly Fault[]): void {
    this.#next.set(API[api], [...(this.#next.get(API[api]) ?? []), ...faults]);
  }

  /** Ends all connections; new ones are taken. */
  cut(): void {
    for (const client of this.#clients) client.destroy();
  }

  /** Ends all connections, and refuses new ones until `accept`. */
  refuse(): void {
    for (const server of this.#servers) server.close();
    this.#servers = [];
    this.cut();
  }

  /** At the same addresses. */
  async accept(): Promise<void> {
    this.#servers = this.#targets.map((target, index) => {
      const server = createServer((client) => void this.#serve(client, target));
      return server.listen(this.#ports.port(index), '127.0.0.1');
    });
    await Promise.all(this.#servers.map((server) => once(server, 'listening')));
  }

  #address(index: number): string {
    return `127.0.0.1:${this.#ports.port(index)}`;
  }

  async #serve(client: Socket, target: string): Promise<void> {
    this.connections += 1;
    const colon = target.lastIndexOf(':');
    const broker = connect(Number(target.slice(colon + 1)), target.slice(0, colon));
    const waiting = new Map<number, { readonly request: ProxiedRequest; readonly fault: Fault | undefined }>();
    this.#clients.add(client);
    client.on('close', () => {
      this.#clients.delete(client);
      broker.destroy();
    });
    broker.on('close', () => client.destroy());
    const pass = (bytes: Buffer): void => {
      // It may have been cut at the request before.
      if (client.destroyed) return;
      const request = this.#read(bytes, target);
      const fault = this.#faultFor(request);
      if (fault === 'cut before') client.destroy();
      else if (isError(fault)) client.write(frame(produceError(request, request.partitions, fault.error)));
      else if (fault !== 'drop') {
        waiting.set(request.correlationId, { request, fault });
        broker.write(frame(bytes));
      }
    };
    const answer = async (bytes: Buffer): Promise<void> => {
      const correlationId = bytes.readInt32BE();
      const { request, fault } = waiting.get(correlationId) ?? {};
      waiting.delete(correlationId);
      if (fault === 'cut after') client.destroy();
      if (!request || fault === 'cut after' || fault === 'swallow') return;
      if (fault instanceof Hold) await fault.pass();
      const told = withAddresses(bytes, request, (address) => this.#told(address));
      client.write(frame(isThrottle(fault) ? throttled(told, fault.throttleMs) : told));
    };
    await Promise.all([this.#frames(client, pass), this.#frames(broker, answer)]);
  }

  /** Until the socket ends, in whatever way. */
  async #frames(socket: Socket, take: (bytes: Buffer) => void | Promise<void>): Promise<void> {
    const splitter = new FrameSplitter();
    socket.on('error', () => {});
    const chunks = socket[Symbol.asyncIterator]();
    for (;;) {
      const next = await chunks.next().catch(() => undefined);
      if (!next || next.done) return;
      try {
        for (const bytes of splitter.push(next.value as Buffer)) await take(bytes);
      } catch (error) {
        this.#fault ??= error;
        socket.destroy();
      }
    }
  }

  #read(bytes: Buffer, broker: string): ProxiedRequest {
    const header = readHeader(bytes);
    const partitions = header.api === API.produce ? readProduce(bytes) : [];
    const request = { ...header, broker, partitions };
    this.requests.push(request);
    return request;
  }

  #faultFor(request: ProxiedRequest): Fault | undefined {
    return this.#next.get(request.api)?.shift() ?? this.rule(request);
  }

  #told(address: string): string {
    const index = this.#targets.indexOf(address);
    return this.#options.advertised ?? (index === -1 ? address : this.#address(index));
  }
}

function isError(fault: Fault | undefined): fault is { readonly error: number } {
  return typeof fault === 'object' && 'error' in fault;
}

function isThrottle(fault: Fault | undefined): fault is { readonly throttleMs: number } {
  return typeof fault === 'object' && 'throttleMs' in fault;
}
