// An API server and options → the bridge's identity; checks the node and all rights.
import { BridgeError } from '../../src/errors.ts';
import { objectOf } from '../../src/formats/json-object.ts';
import { visibleLine } from '../../src/formats/visible-text.ts';
import type { AdapterDeps } from '../adapter.ts';
import { type ApiClient, isAllowed, type Right } from './api/api-client.ts';
import type { KubernetesOptions, PreparationStep } from './kubernetes-options.ts';
import { NAMESPACE } from './node/node-event.ts';
import { NodeKeeper } from './node/node-keeper.ts';

const READ: Right = { resource: 'nodes', verb: 'get' };
const WRITE: Right = { resource: 'nodes', verb: 'patch' };

const RIGHTS: Readonly<Record<PreparationStep, readonly Right[]>> = {
  event: [{ resource: 'events', verb: 'create', namespace: NAMESPACE }],
  condition: [WRITE, { resource: 'nodes/status', verb: 'patch' }],
  taint: [WRITE],
  cordon: [WRITE],
  drain: [
    { resource: 'pods', verb: 'list' },
    { resource: 'pods/eviction', verb: 'create' },
  ],
};

interface CheckParts {
  readonly api: ApiClient;
  readonly options: KubernetesOptions;
  /** Null: derived from the name of the VM, which is in each event. */
  readonly node: string | null;
  readonly deps: AdapterDeps;
}

/** Checks the access without changing anything. @throws BridgeError whose message says what to do */
export async function checkAccess({ api, options, node, deps }: CheckParts, signal: AbortSignal): Promise<string> {
  const who = await whoami(api, signal);
  const label = options.excludeFromLoadBalancers ? [WRITE] : [];
  const needed = [READ, ...label, ...options.prepare.flatMap((step) => RIGHTS[step])].filter(
    (right, index, all) => all.indexOf(right) === index,
  );
  const allowed = await Promise.all(needed.map((right) => isAllowed(api, right, signal)));
  const missing = needed.filter((_, index) => !allowed[index]).map(({ resource, verb }) => `${verb} ${resource}`);
  if (missing.length > 0) {
    const message = `sink ${deps.name}: ${who} may not ${missing.join(', ')}: add to its ClusterRole ${missing.map(ruleOf).join(', ')}`;
    throw new BridgeError('BRIDGE_KUBERNETES_MISCONFIGURED', message, {
      disposition: 'misconfigured',
      scope: 'sink',
      status: 403,
    });
  }
  if (node === null) return `as ${who}; the sink derives the node from the name of the VM in each event`;
  await new NodeKeeper(node, api, deps).read(signal);
  return `as ${who}, for the node ${node}`;
}

/** Returns the name of the bridge's account; API servers before 1.28 do not return it. */
async function whoami(api: ApiClient, signal: AbortSignal): Promise<string> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const answer = await api.ask(
    { method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body },
    signal,
  );
  const fault = api.faultOf(answer);
  if (fault !== null && answer.status !== 404) throw fault;
  const user = objectOf(objectOf(answer.body?.['status'])['userInfo'])['username'];
  return typeof user === 'string' ? visibleLine(user).slice(0, 256) : 'this account';
}

function ruleOf(right: string): string {
  const [verb, resource] = right.split(' ');
  return `{ apiGroups: [""], resources: [${resource}], verbs: [${verb}] }`;
}
