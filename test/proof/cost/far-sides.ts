// Types of sinks and sources, other far sides → each one hostile, and the settings for it.
import { writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { CERTIFICATE } from '../../far-sides/certificate.ts';
import { sdkClient } from '../../far-sides/service-bus/sdk-client.ts';
import { serviceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import { folderOf } from '../../support/folder.ts';
import type { Sections } from '../../support/running-bridge.ts';
import { httpFarSide } from './http-far-side.ts';
import { kafkaFloods } from './kafka-floods.ts';

const MIB = 1024 * 1024;
/** The longest answer that sinks read. */
const SINK_ANSWER = 4 * MIB;
const MOST_DOCUMENT = 4 * MIB;

export interface HostileSide {
  readonly sinks?: Sections;
  readonly sources?: Sections;
  readonly jwt?: Sections;
  readonly env?: Readonly<Record<string, string>>;
  /** Makes it hostile; absent: it is from the start. */
  readonly begin?: () => void;
  /** What it did so far, in words. */
  readonly did: () => string;
}

type Start = (t: TestContext) => Promise<HostileSide>;

const LOOPBACK = { allowInsecure: true, allowPrivate: ['127.0.0.0/8'] };

/** A sink that posts to an HTTP server. */
const posting =
  (settings: Sections): Start =>
  async (t) => {
    const { port, given, begin } = await httpFarSide(t, { mostBytes: SINK_ANSWER });
    const sink = { url: `http://127.0.0.1:${port}/`, ...LOOPBACK, ...settings };
    return { sinks: { hostile: sink }, begin, did: () => `${given.length} answers` };
  };

/** A TCP server that sends each connection the next of these, and again when all is taken. */
async function tcpFloods(t: TestContext, floods: readonly Buffer[]) {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const bytes = floods[connections % floods.length] as Buffer;
    connections += 1;
    const more = () => {
      while (!socket.destroyed && socket.write(bytes));
    };
    socket.on('error', () => {}).on('drain', more);
    socket.resume();
    more();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as { port: number }).port, did: () => `${connections} connections` };
}

/** AMQP: the header, then frames: as long as a length can say, empty, of zeros. */
const AMQP = Buffer.from('AMQP\x00\x01\x00\x00', 'latin1');
const AMQP_FLOODS = [
  Buffer.concat([AMQP, Buffer.from([0x7f, 0xff, 0xff, 0xff, 2, 0, 0, 0]), Buffer.alloc(MIB)]),
  Buffer.concat([AMQP, ...Array.from({ length: 5000 }, () => Buffer.from([0, 0, 0, 8, 2, 0, 0, 0]))]),
  Buffer.alloc(MIB),
];

/** By the type of a sink; each type of the list in the code has a row. A text says why a type cannot run here. */
export const HOSTILE_SINKS: Readonly<Record<string, Start | string>> = {
  // Each scene has a stdout sink, which nobody reads.
  stdout: async () => ({ did: () => 'nobody reads' }),
  file: async () => ({ sinks: { hostile: { type: 'file', path: '/dev/full' } }, did: () => 'a full disk' }),
  syslog: async (t) => {
    const { port, did } = await tcpFloods(t, [Buffer.alloc(MIB, 'x'), Buffer.alloc(1)]);
    return { sinks: { hostile: { type: 'syslog', server: `tcp://127.0.0.1:${port}` } }, did };
  },
  webhook: posting({ type: 'webhook' }),
  kafka: async (t) => {
    const { port, did } = await kafkaFloods(t);
    const sink = { type: 'kafka', brokers: [`127.0.0.1:${port}`], topic: 'events' };
    return { sinks: { hostile: sink }, did };
  },
  'service-bus': async (t) => {
    const { port, did } = await tcpFloods(t, AMQP_FLOODS);
    const at = `Endpoint=sb://127.0.0.1:${port};SharedAccessKeyName=k;SharedAccessKey=a2V5;UseDevelopmentEmulator=true`;
    const sink = { type: 'service-bus', connectionString: { env: 'BUS' }, queue: 'events' };
    return { sinks: { hostile: sink }, env: { BUS: at }, did };
  },
  splunk: posting({ type: 'splunk', token: { env: 'ANY' } }),
  elasticsearch: posting({ type: 'elasticsearch', index: 'events' }),
  otlp: posting({ type: 'otlp' }),
  'azure-monitor': async (t) => {
    // After a failure, the credential waits for up to a minute.
    const { port, given, begin } = await httpFarSide(t, { mostBytes: 64 * 1024, first: 'endless' });
    const rule = 'dcr-00000000000000000000000000000000';
    const sink = { type: 'azure-monitor', endpoint: 'https://127.0.0.1:9', rule, stream: 'Custom-Events' };
    return {
      sinks: { hostile: { ...sink, credential: 'managed-identity', allowPrivate: ['127.0.0.0/8'] } },
      env: { IDENTITY_ENDPOINT: `http://127.0.0.1:${port}/token`, IDENTITY_HEADER: 'any' },
      begin,
      did: () => `${given.length} answers for a token`,
    };
  },
  'windows-event-log': 'Windows has the only far side of this type: its own event log',
  command: async () => ({
    sinks: { hostile: { type: 'command', run: ['/bin/sh', '-c', 'yes & yes >&2'], timeout: '2s' } },
    did: () => 'two endless outputs of each program',
  }),
  kubernetes: async (t) => {
    const { port, given, begin } = await httpFarSide(t, { mostBytes: SINK_ANSWER, isTls: true });
    const config = join(folderOf(t), 'kubeconfig');
    const cluster = {
      server: `https://127.0.0.1:${port}`,
      'certificate-authority-data': Buffer.from(CERTIFICATE).toString('base64'),
    };
    writeFileSync(
      config,
      JSON.stringify({
        ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'here' },
        contexts: [{ name: 'here', context: { cluster: 'ours', user: 'bridge' } }],
        clusters: [{ name: 'ours', cluster }],
        users: [{ name: 'bridge', user: { token: 'any-token' } }],
      }),
    );
    const sink = { type: 'kubernetes', kubeconfig: config, node: 'node-1', prepare: ['taint', 'drain'] };
    return { sinks: { hostile: sink }, begin, did: () => `${given.length} answers` };
  },
};

/** By the type of a source of approvals. */
export const HOSTILE_SOURCES: Readonly<Record<string, Start>> = {
  kafka: async (t) => {
    const { port, did } = await kafkaFloods(t);
    const source = { type: 'kafka', brokers: [`127.0.0.1:${port}`], topic: 'approvals', groupId: 'g' };
    return { sources: { hostile: { ...source, approver: 'orders' } }, did };
  },
  'service-bus': async (t) => {
    const server = await serviceBusServer(t);
    const queue = server.queue('approvals');
    const sender = sdkClient(server).createSender('approvals');
    const many = JSON.stringify({
      StartRequests: Array.from({ length: 3000 }, (_, index) => ({ EventId: `e${index}` })),
    });
    const bodies = ['['.repeat(65_000), many.slice(0, 65_000), many, '{"a":'.repeat(50_000), 'x'.repeat(250_000)];
    let sent = 0;
    let isOver = false;
    const flood = (async () => {
      for (; !isOver; sent++) {
        const body = Buffer.from(bodies[sent % bodies.length] ?? '');
        if (queue.messages().length < 500) await sender.sendMessages({ body, messageId: `${sent}` });
        else await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })().catch(() => {});
    server.closeFirst(async () => {
      isOver = true;
      await flood;
    });
    const source = { type: 'service-bus', connectionString: { env: 'BUS' }, queue: 'approvals', approver: 'orders' };
    return { sources: { hostile: source }, env: { BUS: server.connectionString }, did: () => `${sent} messages` };
  },
};

/** Far sides without a type, by the file that reads their answers. */
export const HOSTILE_OTHERS: Readonly<Record<string, Start>> = {
  'adapters/http/endpoint.ts': async (t) => {
    const { port, given, begin } = await httpFarSide(t, { mostBytes: 64 * 1024 });
    const oauth2 = { tokenUrl: `http://127.0.0.1:${port}/token`, clientId: 'bridge', clientSecret: { env: 'ANY' } };
    const sink = { type: 'webhook', url: 'http://127.0.0.1:9/', oauth2, ...LOOPBACK };
    return { sinks: { hostile: sink }, begin, did: () => `${given.length} answers for a token` };
  },
  'src/auth/key-set-request.ts': async (t) => {
    const { port, given, begin } = await httpFarSide(t, { mostBytes: MIB });
    const jwks = `http://127.0.0.1:${port}/keys`;
    return {
      jwt: { issuer: 'https://issuer.example', audience: 'bridge', jwks, ...LOOPBACK },
      begin,
      did: () => `${given.length} answers for keys`,
    };
  },
  'src/metadata/http-transport.ts': async () => ({
    did: () => `each second answer hostile, up to ${MOST_DOCUMENT} bytes`,
  }),
  'src/azure/bounded-http-client.ts': HOSTILE_SINKS['azure-monitor'] as Start,
  'adapters/kubernetes/api/api-client.ts': HOSTILE_SINKS['kubernetes'] as Start,
  'adapters/service-bus/connection/entity-description.ts': HOSTILE_SINKS['service-bus'] as Start,
};
