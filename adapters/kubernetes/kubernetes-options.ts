// Configuration of a Kubernetes sink → checked options; faults that show once secrets are open.
import { join } from 'node:path';
import * as v from 'valibot';
import { affects } from '../../src/model/content.ts';
import { isDrill } from '../../src/model/drills.ts';
import type { OptionFault } from '../../src/schema/faults.ts';
import { durationBetween, name, type OptionsOf, secret } from '../../src/schema/pieces.ts';
import { reveal, Secret } from '../../src/secrets/secret.ts';
import type { DecisiveFile, SinkApprover } from '../adapter.ts';
import { serverFault } from './access/in-cluster.ts';
import { namesNode } from './node/node-name.ts';

/** What can be done to a node before a maintenance. */
export const STEPS = ['event', 'condition', 'taint', 'cordon', 'drain'] as const;
export type Step = (typeof STEPS)[number];

/** A DNS subdomain (RFC 1123), as names of nodes are. */
const NODE_NAME = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NODE_FAULT = 'must be the name of a node: lower-case letters, digits, - and .';
const ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

const path = () => v.pipe(v.string(), v.minLength(1, 'must not be empty'));

const drain = v.pipe(
  v.strictObject({
    timeout: v.optional(durationBetween('1s', '24h', 'How long pods are evicted and waited for. Default 10m.'), '10m'),
    gracePeriod: v.exactOptional(
      durationBetween('1s', '24h', 'How long a pod may take to end, in whole seconds, in place of what it asks for itself.'),
    ),
    deleteEmptyDirData: v.pipe(
      v.optional(v.boolean(), true),
      v.description('Whether pods with an emptyDir go, whose data is lost then. Default true.'),
    ),
    force: v.pipe(v.optional(v.boolean(), true), v.description('Whether pods go that no controller makes anew elsewhere. Default true.')),
  }),
  v.description('How the node is drained.'),
);

/** The API server as a pod finds it. Absent with `kubeconfig`. */
const inCluster = () => ({
  host: new Secret({ env: 'KUBERNETES_SERVICE_HOST' }, ''),
  port: new Secret({ env: 'KUBERNETES_SERVICE_PORT' }, ''),
});

export const kubernetesOptions = v.pipe(
  v.strictObject({
    type: v.pipe(v.optional(v.literal('kubernetes')), v.description('The kind of sink.')),
    node: v.exactOptional(
      v.pipe(
        v.union([v.pipe(v.string(), v.regex(NODE_NAME, NODE_FAULT)), secret()], 'must be the name of a node or { env: NAME }'),
        v.description('The node that this VM is, as { env: NODE_NAME }. Default: from the name of the VM, as AKS names its nodes.'),
      ),
    ),
    prepare: v.pipe(
      v.array(v.picklist(STEPS)),
      v.minLength(1, 'must not be empty'),
      v.check((steps) => new Set(steps).size === steps.length, 'names a step twice'),
      v.description('What is done to the node before a maintenance, in this order: event, condition, taint, cordon, drain.'),
    ),
    recover: v.pipe(v.optional(v.boolean(), true), v.description('Whether it is taken back when the event has ended. Default true.')),
    drain: v.optional(drain, {}),
    approve: v.exactOptional(v.pipe(name(), v.description('The approver whose yes it is when every pod has gone.'))),
    hold: v.exactOptional(v.pipe(name(), v.description('The same name: every other approval waits for that yes.'))),
    beforeStart: v.exactOptional(durationBetween('0s', '1h', 'So long before NotBefore pods are no longer waited for.')),
    cancel: v.pipe(
      v.optional(v.boolean(), true),
      v.description('Whether it ends early where its event has changed, started or ended since. Default true.'),
    ),
    drills: v.pipe(v.optional(v.boolean(), true), v.description('Whether a drill does all of it to the node, too. Default true.')),
    kubeconfig: v.exactOptional(
      v.pipe(
        path(),
        v.description('A kubeconfig whose current context is used, in place of the service account of the pod.'),
        v.transform((file) => new Secret({ file })),
      ),
    ),
    serviceAccount: v.pipe(
      v.optional(path(), ACCOUNT_FOLDER),
      v.description(`The folder with token and ca.crt of the service account. Default ${ACCOUNT_FOLDER}.`),
    ),
    timeout: v.optional(durationBetween('100ms', '1m', 'How long one request to the API server may take. Default 10s.'), '10s'),
  }),
  v.forward(
    v.check(({ approve, prepare }) => approve === undefined || prepare.includes('drain'), 'means nothing unless prepare has drain'),
    ['approve'],
  ),
  v.forward(
    v.check(({ approve, hold }) => hold === undefined || hold === approve, 'must be the name that approve has'),
    ['hold'],
  ),
  v.transform((options) => ({ ...options, cluster: options.kubeconfig === undefined ? inCluster() : null })),
);

export type KubernetesOptions = OptionsOf<typeof kubernetesOptions>;

/** Of options whose secrets are open. */
export function kubernetesSecretFaults({ node, cluster }: KubernetesOptions): readonly OptionFault[] {
  const address = cluster === null ? null : serverFault(cluster);
  return [
    ...(node !== undefined && !NODE_NAME.test(reveal(node)) ? [{ key: 'node', message: NODE_FAULT }] : []),
    ...(address === null ? [] : [{ key: 'kubeconfig', message: address }]),
  ];
}

/** The files that say who answers for the API server and by what right it is asked, but for the kubeconfig, which is a secret. */
export async function accessFiles({ kubeconfig, serviceAccount }: KubernetesOptions): Promise<readonly DecisiveFile[]> {
  if (kubeconfig?.file) {
    const { filesNamedIn } = await import('./access/kubeconfig.ts');
    return filesNamedIn(kubeconfig.file, kubeconfig.reveal()).map((file) => ({ key: 'kubeconfig', kind: 'file', ...file }));
  }
  return ['ca.crt', 'token'].map((name) => ({ key: 'serviceAccount', kind: 'file', path: join(serviceAccount, name) }));
}

/** Of options whose secrets are open; reads YAML. */
export async function kubeconfigFaults({ kubeconfig }: KubernetesOptions): Promise<readonly OptionFault[]> {
  if (kubeconfig === undefined) return [];
  const { kubeconfigFault } = await import('./access/kubeconfig.ts');
  const message = kubeconfigFault(kubeconfig.reveal());
  return message === null ? [] : [{ key: 'kubeconfig', message }];
}

/** Of options whose secrets are open. */
export function approverOf({ approve, hold, drills, node }: KubernetesOptions): SinkApprover | null {
  if (approve === undefined) return null;
  const actsOn: NonNullable<SinkApprover['actsOn']> = ({ eventId, resources }, vm) => {
    if (isDrill(eventId) && !drills) return false;
    if (vm !== null) return affects({ resources }, vm);
    // A VM that is named otherwise than its node may be meant all the same.
    return node !== undefined && namesNode(resources, reveal(node)) ? true : null;
  };
  return { name: approve, holds: hold !== undefined, actsOn };
}
