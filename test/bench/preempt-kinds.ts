// Every kind of sink → a far side that takes all there is, and the sink's options.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CERTIFICATE } from '../far-sides/certificate.ts';
import { Cluster } from '../far-sides/kafka/cluster.ts';
import { noDistribution } from '../far-sides/kafka/distribution.ts';
import { NodeApi, TOKEN } from '../far-sides/kubernetes/node-routes.ts';
import { WebhookReceiver } from '../far-sides/webhook-receiver.ts';
import { hook, type Sections } from '../support/running-bridge.ts';
import { BenchNamespace } from './bench-namespace.ts';
import { SINKS } from './siem-sinks.ts';

export interface PreemptFarSide extends AsyncDisposable {
  /** The sink's options, its type too. */
  readonly sink: Sections;
  /** Of the bridge, besides PATH. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Whether it acts on an event of this type now; where that is not the same as to have accepted it. */
  readonly actsOn?: (type: string) => boolean;
}

export interface PreemptKind {
  readonly type: string;
  /** A case of its own, in which so many Reboots are under way; on so many machines, one after the other. */
  readonly busy?: { readonly what: string; readonly reboots: number; readonly machines: number };
  /** Why it cannot be measured here; false where it can. */
  readonly lacks?: () => string | false;
  /** @param folder on the disk of the bridge's store, for the one bridge that uses it */
  readonly start: (folder: string) => Promise<PreemptFarSide>;
}

/** A Reboot's program goes on until there is a file `go`, any other ends at once. */
const PROGRAM = `#!/bin/sh
if [ "$EVENT_TYPE" = Reboot ]; then until [ -e go ]; do sleep 0.2; done; fi
`;

const logSinks: readonly PreemptKind[] = SINKS.filter(({ variant }) => variant === undefined).map(
  ({ type, start }) => ({
    type,
    start: async (folder) => {
      const far = await start(folder);
      return { sink: { type, ...far.sink }, env: far.env, [Symbol.asyncDispose]: () => far[Symbol.asyncDispose]() };
    },
  }),
);

export const KINDS: readonly PreemptKind[] = [
  { type: 'stdout', start: async () => ({ sink: { type: 'stdout' }, [Symbol.asyncDispose]: async () => {} }) },
  ...logSinks,
  { type: 'webhook', start: startWebhook },
  { type: 'kafka', lacks: noDistribution, start: startKafka },
  { type: 'service-bus', start: startServiceBus },
  { type: 'command', start: startCommand },
  { type: 'command', busy: { what: '4 programs run', reboots: 4, machines: 1 }, start: startCommand },
  { type: 'kubernetes', start: (folder) => startKubernetes(folder) },
  {
    type: 'kubernetes',
    busy: { what: 'a drain is under way', reboots: 1, machines: 6 },
    start: (folder) => startKubernetes(folder, ['drain']),
  },
];

async function startWebhook(): Promise<PreemptFarSide> {
  const receiver = await WebhookReceiver.start();
  receiver.default = (response) => response.writeHead(204).end();
  return { sink: hook(receiver.url), [Symbol.asyncDispose]: () => receiver.stop() };
}

async function startKafka(): Promise<PreemptFarSide> {
  const cluster = await Cluster.launch();
  const topic = 'preempt';
  await cluster.createTopic(topic, { partitions: 3 });
  const sink = { type: 'kafka', brokers: cluster.addresses(), topic };
  return { sink, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
}

async function startServiceBus(): Promise<PreemptFarSide> {
  const namespace = await BenchNamespace.start(['preempt']);
  const { sinks } = namespace.sink('preempt');
  return { sink: Object.values(sinks)[0] as Sections, [Symbol.asyncDispose]: () => namespace[Symbol.asyncDispose]() };
}

async function startCommand(folder: string): Promise<PreemptFarSide> {
  const program = join(folder, 'program');
  writeFileSync(program, PROGRAM);
  chmodSync(program, 0o755);
  return {
    sink: { type: 'command', run: [program], directory: folder },
    [Symbol.asyncDispose]: async () => writeFileSync(join(folder, 'go'), ''),
  };
}

/** @param more steps besides the marks; a drain waits for a pod that stays */
async function startKubernetes(folder: string, more: readonly string[] = []): Promise<PreemptFarSide> {
  const api = await NodeApi.start();
  api.cluster.addNode('node-1');
  api.cluster.podsEnd = false;
  api.cluster.addPod({ name: 'slow' });
  writeFileSync(join(folder, 'token'), TOKEN);
  writeFileSync(join(folder, 'ca.crt'), CERTIFICATE);
  const prepare = ['event', 'condition', 'taint', 'cordon', ...more];
  const actsOn = (type: string) => api.cluster.node('node-1').spec.taints?.at(-1)?.value === type;
  return {
    sink: { type: 'kubernetes', node: 'node-1', prepare, serviceAccount: folder },
    env: { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(api.receiver.port) },
    ...(more.length > 0 && { actsOn }),
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}
