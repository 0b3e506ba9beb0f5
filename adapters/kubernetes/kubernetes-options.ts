// Configuration of a Kubernetes sink → checked options, and the faults in their secrets.
import { join } from 'node:path';
import * as v from 'valibot';
import { affects, isDrill } from '../../src/model/ids.ts';
import type { OptionFault } from '../../src/schema/faults.ts';
import { durationBetween, flag, name, type OptionsOf, rule, secret, withoutFault } from '../../src/schema/pieces.ts';
import { reveal, Secret } from '../../src/secrets/secret.ts';
import type { DecisiveFile, SinkApprover } from '../adapter.ts';
import { clusterAddressFault } from './access/access.ts';
import { selectorFault } from './label-selector.ts';
import { namesNode } from './node/node-name.ts';

/** The steps that prepare a node for a maintenance. */
const STEPS = ['event', 'condition', 'taint', 'cordon', 'drain'] as const;
export type PreparationStep = (typeof STEPS)[number];

/** Names of nodes are DNS subdomains (RFC 1123). */
const NODE_NAME = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NODE_FAULT = 'must be the name of a node: lower-case letters, digits, - and .';
const CONDITION = /^[A-Za-z][-A-Za-z0-9_.]{0,252}$/;
const ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

const path = () => v.pipe(v.string(), v.minLength(1, 'must not be empty'));

const drain = v.pipe(
  v.strictObject({
    timeout: v.optional(
      durationBetween('1s', '24h', 'How long the sink evicts pods and waits for them. Default 10m.'),
      '10m',
    ),
    gracePeriod: v.exactOptional(
      v.pipe(
        v.union(
          [v.literal('auto'), durationBetween('1s', '24h', 'In whole seconds, instead of the period in its spec.')],
          'must be auto, or a duration from 1s to 24h',
        ),
        v.description(
          'The grace period of each pod, in whole seconds. auto: its own, at most the time until 5 s before NotBefore. Default: its own.',
        ),
      ),
    ),
    selector: v.exactOptional(
      v.pipe(
        v.string(),
        v.maxLength(1024, 'must have at most 1,024 characters'),
        withoutFault(selectorFault),
        v.description('A label selector: the sink evicts only pods that match, and waits only for them.'),
      ),
    ),
    deleteEmptyDirData: flag(true, 'Whether to evict pods with an emptyDir, which lose its data. Default true.'),
    force: flag(true, 'Whether to evict pods that no controller creates again elsewhere. Default true.'),
  }),
  v.description('How the node is drained.'),
);

/** The address of the API server in a pod. Absent with `kubeconfig`. */
const inCluster = () => ({
  host: new Secret({ env: 'KUBERNETES_SERVICE_HOST' }, ''),
  port: new Secret({ env: 'KUBERNETES_SERVICE_PORT' }, ''),
});

export const kubernetesOptions = v.pipe(
  v.strictObject({
    type: v.pipe(v.optional(v.literal('kubernetes')), v.description('The kind of sink.')),
    node: v.exactOptional(
      v.pipe(
        v.union(
          [v.pipe(v.string(), v.regex(NODE_NAME, NODE_FAULT)), secret()],
          'must be the name of a node or { env: NAME }',
        ),
        v.description(
          'The name of the node of this VM, such as { env: NODE_NAME }. Default: derived from the name of the VM, as AKS names its nodes.',
        ),
      ),
    ),
    prepare: v.pipe(
      v.array(v.picklist(STEPS)),
      v.minLength(1, 'must not be empty'),
      v.check((steps) => new Set(steps).size === steps.length, 'names a step twice'),
      v.description('The steps before a maintenance, in this order: any of event, condition, taint, cordon, drain.'),
    ),
    conditions: v.exactOptional(
      v.pipe(
        v.array(v.pipe(v.string(), v.regex(CONDITION, 'must be the name of a condition, such as VMEventScheduled'))),
        v.minLength(1, 'must not be empty'),
        v.check((types) => new Set(types).size === types.length, 'names a condition twice'),
        v.description('The types of the conditions that the step condition sets. Default: [ScheduledEvent].'),
      ),
    ),
    excludeFromLoadBalancers: flag(
      false,
      'Whether the sink first sets the label node.kubernetes.io/exclude-from-external-load-balancers. Default false.',
    ),
    recover: flag(true, 'Whether the sink undoes its steps when the event has ended. Default true.'),
    drain: v.optional(drain, {}),
    approve: v.exactOptional(
      v.pipe(name(), v.description('The approver in whose name the sink approves when every pod has gone.')),
    ),
    hold: v.exactOptional(
      v.pipe(name(), v.description('The same name as approve: every other approval of the event waits for that yes.')),
    ),
    beforeStart: v.exactOptional(
      durationBetween('0s', '1h', 'How long before NotBefore the sink stops waiting for pods.'),
    ),
    cancel: flag(true, 'Whether a delivery ends early if its event has changed, started or ended since. Default true.'),
    drills: flag(true, 'Whether drills also prepare the node. Default true.'),
    kubeconfig: v.exactOptional(
      v.pipe(
        path(),
        v.description('A kubeconfig; the sink uses its current context instead of the service account of the pod.'),
        v.transform((file) => new Secret({ file })),
      ),
    ),
    serviceAccount: v.pipe(
      v.optional(path(), ACCOUNT_FOLDER),
      v.description(`The folder with token and ca.crt of the service account. Default ${ACCOUNT_FOLDER}.`),
    ),
    timeout: v.optional(
      durationBetween('100ms', '1m', 'How long one request to the API server may take. Default 10s.'),
      '10s',
    ),
  }),
  rule(
    'approve',
    ({ approve, prepare }) => !approve || prepare.includes('drain'),
    'has no effect unless prepare contains drain',
  ),
  rule(
    'conditions',
    ({ conditions, prepare }) => !conditions || prepare.includes('condition'),
    'has no effect unless prepare contains condition',
  ),
  rule('hold', ({ approve, hold }) => hold === undefined || hold === approve, 'must be the same name as approve'),
  v.transform((options) => ({ ...options, cluster: options.kubeconfig === undefined ? inCluster() : null })),
);

export type KubernetesOptions = OptionsOf<typeof kubernetesOptions>;

/** @param options with resolved secrets */
export function kubernetesSecretFaults({ node, cluster }: KubernetesOptions): readonly OptionFault[] {
  const address = cluster === null ? null : clusterAddressFault(cluster);
  return [
    ...(node !== undefined && !NODE_NAME.test(reveal(node)) ? [{ key: 'node', message: NODE_FAULT }] : []),
    ...(address === null ? [] : [{ key: 'kubeconfig', message: address }]),
  ];
}

/**
 * Returns the files of the credentials, also those that a kubeconfig names. The kubeconfig itself is a secret, so it is
 * not included.
 */
export async function accessFiles({ kubeconfig, serviceAccount }: KubernetesOptions): Promise<readonly DecisiveFile[]> {
  if (kubeconfig?.file) {
    const { filesNamedIn } = await import('./access/kubeconfig.ts');
    return filesNamedIn(kubeconfig.file, kubeconfig.reveal()).map((file) => ({
      key: 'kubeconfig',
      kind: 'file',
      ...file,
    }));
  }
  return ['ca.crt', 'token'].map((name) => ({ key: 'serviceAccount', kind: 'file', path: join(serviceAccount, name) }));
}

/** Reads the YAML of the kubeconfig. @param options with resolved secrets */
export async function kubeconfigFaults({ kubeconfig }: KubernetesOptions): Promise<readonly OptionFault[]> {
  if (kubeconfig === undefined) return [];
  const { kubeconfigFault } = await import('./access/kubeconfig.ts');
  const message = kubeconfigFault(kubeconfig.reveal());
  return message === null ? [] : [{ key: 'kubeconfig', message }];
}

/** @param options with resolved secrets */
export function kubernetesApprover({ approve, hold, drills, node }: KubernetesOptions): SinkApprover | null {
  if (approve === undefined) return null;
  const actsOn: NonNullable<SinkApprover['actsOn']> = ({ eventId, resources }, vm) => {
    if (isDrill(eventId) && !drills) return false;
    if (vm !== null) return affects({ resources }, vm);
    // The VM may have another name than its node, so an unequal name proves nothing.
    return node !== undefined && namesNode(resources, reveal(node)) ? true : null;
  };
  return { name: approve, holds: hold !== undefined, actsOn };
}
