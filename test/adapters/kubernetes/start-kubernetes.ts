// A test → an API server of ours, an adapter in front of it, and deliveries of one VM's events.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import * as v from 'valibot';
import type { Outcome } from '../../../adapters/adapter.ts';
import { type KubernetesAdapter, kubernetesSink } from '../../../adapters/kubernetes/kubernetes.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import type { Deps } from '../../../src/time/clock.ts';
import { CERTIFICATE } from '../../far-sides/certificate.ts';
import { NodeApi, TOKEN } from '../../far-sides/kubernetes/node-routes.ts';
import { adapterDeps, type TestDeps } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';

export const NODE = 'node-1';
export const ALL = ['event', 'condition', 'taint', 'cordon', 'drain'];
const EVENT = 'c7061bac-afdc-4513-b24b-aa5f13a16123';

export interface EventWish {
  readonly event?: string;
  readonly type?: string;
  readonly notBefore?: string | null;
  readonly vm?: string | null;
  readonly affected?: boolean | null;
  readonly resources?: readonly string[];
  readonly description?: string;
  readonly endedAtMs?: number | null;
}

/** A CloudEvent of an event that names this VM. */
export function nodeDelivery(change: string, wish: EventWish = {}): Delivery {
  const { event = EVENT, type = 'Reboot', notBefore = '2026-01-01T00:15:00Z', vm = 'vm-1', affected = true } = wish;
  const { resources = ['vm-1'], description = '', endedAtMs = null } = wish;
  const id = `${event}:${change}`;
  const eventStatus = change === 'ended' ? 'Ended' : change === 'started' ? 'Started' : 'Scheduled';
  const data = {
    eventId: event.toUpperCase(),
    eventType: type,
    eventStatus,
    notBefore,
    description,
    resources,
    observer: { name: vm, affected },
  };
  const time = Date.UTC(2026, 0, 1);
  const bytes = Buffer.from(JSON.stringify({ specversion: '1.0', id, source: '/s', type: 't', data }));
  return {
    seq: 1,
    sink: 'under-test',
    id,
    change,
    partitionKey: event,
    timeMs: time,
    bytes,
    queuedAtMs: time,
    attempts: 0,
    endedAtMs,
  };
}

/** A folder as kubelet mounts it into a pod. */
export function accountFolder(t: TestContext, token = TOKEN): string {
  const folder = mkdtempSync(join(tmpdir(), 'bridge-account-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'token'), token);
  writeFileSync(join(folder, 'ca.crt'), CERTIFICATE);
  return folder;
}

/** What `kubectl config` would write for the API server of ours. */
export function kubeconfigOf(server: string, user: object = { token: TOKEN }): object {
  const cluster = { server, 'certificate-authority-data': Buffer.from(CERTIFICATE).toString('base64') };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'ours', user: 'bridge' } }],
    clusters: [{ name: 'ours', cluster }],
    users: [{ name: 'bridge', user }],
  };
}

export function kubeconfigFile(t: TestContext, { url }: Pick<NodeApi, 'url'>): string {
  const file = join(accountFolder(t), 'kubeconfig');
  writeFileSync(file, JSON.stringify(kubeconfigOf(url)));
  return file;
}

export interface KubernetesSetup {
  readonly options?: Readonly<Record<string, unknown>>;
  readonly time?: Deps;
}

export interface StartedKubernetes {
  readonly api: NodeApi;
  readonly adapter: KubernetesAdapter;
  readonly deps: TestDeps;
  readonly folder: string;
  readonly deliver: (change: string, wish?: EventWish) => Promise<Outcome | undefined>;
}

const never = new AbortController().signal;

export async function startKubernetes(
  t: TestContext,
  { options = {}, time }: KubernetesSetup = {},
): Promise<StartedKubernetes> {
  const api = await NodeApi.start();
  t.after(() => api[Symbol.asyncDispose]());
  api.cluster.addNode(NODE);
  const folder = accountFolder(t);
  const deps = adapterDeps(time === undefined ? {} : { time });
  const adapter = adapterFor({ node: NODE, prepare: ALL, serviceAccount: folder, ...options }, api, deps);
  t.after(() => adapter.close());
  const deliver = async (change: string, wish?: EventWish) =>
    (await adapter.deliver([nodeDelivery(change, wish)], never))[0];
  return { api, adapter, deps, folder, deliver };
}

/** As in a pod of the cluster. */
export function adapterFor(
  options: Readonly<Record<string, unknown>>,
  { receiver }: Pick<NodeApi, 'receiver'>,
  deps: TestDeps,
): KubernetesAdapter {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const parsed = v.parse(kubernetesSink.options, { type: 'kubernetes', ...given });
  openSecrets(parsed, { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(receiver.port) });
  return kubernetesSink.create(parsed, deps) as KubernetesAdapter;
}
