// An order → a webhook receiver, a Service Bus namespace or a Kafka cluster, and what it has seen.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import type { TestContext } from 'node:test';
import { Cluster } from '../../far-sides/kafka/cluster.ts';
import { KafkaProxy } from '../../far-sides/kafka/kafka-proxy.ts';
import { readTopic } from '../../far-sides/kafka/records.ts';
import { API } from '../../far-sides/kafka/wire.ts';
import { ServiceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import type { FarSideAddress, FarSideOrder, FarSideReport } from './far-side-report.ts';
import { countedWay, hashOf, SocketCounts } from './socket-counts.ts';

/** Longer than the sinks' default of 10 s: a busy machine must not look like a receiver that lost its answers. */
const TIMEOUT = '1m';

export interface FarSide {
  readonly address: FarSideAddress;
  report(): FarSideReport | Promise<FarSideReport>;
}

/** It ends with its process. */
export function farSideOf(order: FarSideOrder): Promise<FarSide> {
  if (order.kind === 'webhook') return webhook(order);
  return order.kind === 'kafka' ? kafka(order) : serviceBus();
}

async function webhook({
  perSecond,
  retryAfterS,
}: Extract<FarSideOrder, { readonly kind: 'webhook' }>): Promise<FarSide> {
  const counts = new SocketCounts();
  const kept: string[] = [];
  const requests: Record<string, number> = { POST: 0, 'POST answered 429': 0 };
  const isOver = limitOf(perSecond);
  const answer = (response: ServerResponse, body: Buffer) => {
    count(requests, 'POST');
    if (isOver()) {
      count(requests, 'POST answered 429');
      response.writeHead(429, retryAfterS === null ? {} : { 'Retry-After': retryAfterS }).end();
      return;
    }
    kept.push(hashOf(body));
    response.writeHead(204).end();
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(response, Buffer.concat(chunks)));
  });
  server.on('connection', (socket) => counts.add(socket));
  const port = await listening(server);
  return {
    address: {
      options: {
        url: `http://127.0.0.1:${port}/`,
        allowInsecure: true,
        allowPrivate: ['127.0.0.0/8'],
        timeout: TIMEOUT,
      },
      secrets: {},
    },
    report: () => ({ ...socketsOf(counts), requests, kept, accepted: kept.length }),
  };
}

/** A topic's one queue, with duplicate detection, which is what the page on Service Bus asks for. */
async function serviceBus(): Promise<FarSide> {
  const counts = new SocketCounts();
  const server = new ServiceBusServer();
  const queue = server.queue('maintenance', { duplicateDetection: '1d' });
  await server.comeBack();
  const port = await listening(countedWay(counts, () => server.port));
  const connectionString = server.connectionString.replace(server.address, `127.0.0.1:${port}`);
  return {
    address: {
      options: { connectionString: { env: 'BUS' }, queue: 'maintenance', mode: 'structured', timeout: TIMEOUT },
      secrets: { BUS: connectionString },
    },
    report: () => {
      const requests: Record<string, number> = {};
      for (const { what } of server.contacts('open', 'put-token', 'attach', 'send')) count(requests, what);
      const sent = server.contacts('send').filter(({ outcome }) => outcome === 'accepted');
      const accepted = sent.reduce((sum, { messageIds }) => sum + messageIds.length, 0);
      return { ...socketsOf(counts), requests, kept: queue.messages().map(({ data }) => hashOf(data)), accepted };
    },
  };
}

async function kafka({ isCounted }: Extract<FarSideOrder, { readonly kind: 'kafka' }>): Promise<FarSide> {
  const counts = new SocketCounts();
  const cluster = await Cluster.launch();
  const topic = 'maintenance';
  await cluster.createTopic(topic, { partitions: 3 });
  const way = isCounted ? await countedKafka(cluster.addresses(), counts) : null;
  const brokers = way === null ? cluster.addresses() : [way.address];
  return {
    address: { options: { brokers, topic, mode: 'structured', timeout: TIMEOUT }, secrets: {} },
    report: async () => {
      const kept = (await readTopic(cluster.addresses(), topic)).map(({ value }) => hashOf(Buffer.from(value ?? '')));
      return { ...socketsOf(counts), requests: way?.requests() ?? {}, kept, accepted: kept.length };
    },
  };
}

/** Clients are told that the broker is at the counted address. */
async function countedKafka(brokers: readonly string[], counts: SocketCounts) {
  const context = { after: () => {} } as unknown as TestContext;
  const inner = { port: 0 };
  const address = `127.0.0.1:${await listening(countedWay(counts, () => inner.port))}`;
  const proxy = await KafkaProxy.start(context, brokers, { advertised: address });
  inner.port = Number(proxy.brokers[0]?.split(':').at(-1));
  const names = new Map<number, string>(Object.entries(API).map(([name, api]) => [api, name]));
  const requests = () => {
    const found: Record<string, number> = {};
    for (const { api } of proxy.requests) count(found, names.get(api) ?? `api ${api}`);
    return found;
  };
  return { address, requests };
}

/** So many in each second of the clock. */
function limitOf(perSecond: number | null): () => boolean {
  let second = 0;
  let taken = 0;
  return () => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) [second, taken] = [now, 0];
    taken += 1;
    return perSecond !== null && taken > perSecond;
  };
}

function socketsOf(counts: SocketCounts): Pick<FarSideReport, 'connections' | 'mostOpen' | 'bytesIn' | 'bytesOut'> {
  const { connections, mostOpen, bytesIn, bytesOut } = counts;
  return { connections, mostOpen, bytesIn, bytesOut };
}

function count(counts: Record<string, number>, what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}

async function listening(server: Server): Promise<number> {
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
