// Options of a Kubernetes sink → defaults, and a fault for each that cannot work.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { ADAPTERS } from '../../../../adapters/index.ts';
import { kubernetesSink } from '../../../../adapters/kubernetes/kubernetes.ts';
import { kubernetesOptions } from '../../../../adapters/kubernetes/kubernetes-options.ts';
import type { OptionFault } from '../../../../src/schema/faults.ts';
import { Secret } from '../../../../src/secrets/secret.ts';
import { openSecrets } from '../../../adapters/contract.ts';
import { kubeconfigOf } from '../../../adapters/kubernetes/start-kubernetes.ts';
import { faultsOf, surroundings } from '../../../support/config.ts';

const DRAIN = { type: 'kubernetes', prepare: ['drain'] };

test('defaults: recovers, cancels, drains for ten minutes and lets every pod go', () => {
  const { recover, cancel, drain, timeout, serviceAccount } = v.parse(kubernetesOptions, DRAIN);
  assert.deepEqual([recover, cancel, timeout], [true, true, 10_000]);
  assert.deepEqual(drain, { timeout: 600_000, deleteEmptyDirData: true, force: true });
  assert.equal(serviceAccount, '/var/run/secrets/kubernetes.io/serviceaccount');
});

test('approve and hold make it speak for an approver', () => {
  const options = (more: object) => v.parse(kubernetesOptions, { ...DRAIN, ...more });
  assert.equal(kubernetesSink.approverOf?.(options({})), null);
  assert.partialDeepStrictEqual(kubernetesSink.approverOf?.(options({ approve: 'node' })), {
    name: 'node',
    holds: false,
  });
  assert.partialDeepStrictEqual(kubernetesSink.approverOf?.(options({ approve: 'node', hold: 'node' })), {
    name: 'node',
    holds: true,
  });
  assert.equal(kubernetesSink.cancels?.(options({ cancel: false })), false);
});

test('it acts on events that name this VM or, while its name is unknown, the node, and on drills unless told otherwise', () => {
  const drill = 'drill-b7cf3c25-632b-4924-809d-3fb64afebede';
  const acts = (more: object, vm: string | null, { eventId = 'a', resources = ['POOL_7'] } = {}) =>
    kubernetesSink
      .approverOf?.(v.parse(kubernetesOptions, { ...DRAIN, approve: 'node', ...more }))
      ?.actsOn?.({ eventId, resources }, vm);
  assert.deepEqual([acts({}, 'pool_7'), acts({}, 'pool_8'), acts({}, null)], [true, false, null]);
  assert.deepEqual([acts({ node: 'pool000007' }, null), acts({ node: 'other' }, null)], [true, null]);
  assert.deepEqual(
    [acts({}, 'pool_7', { eventId: drill }), acts({ drills: false }, 'pool_7', { eventId: drill })],
    [true, false],
  );
});

for (const [what, given, path] of [
  ['no step', { prepare: [] }, 'prepare'],
  ['a step twice', { prepare: ['taint', 'taint'] }, 'prepare'],
  ['an unknown step', { prepare: ['reboot'] }, 'prepare'],
  ['approve without drain', { prepare: ['cordon'], approve: 'node' }, 'approve'],
  ['hold of another name', { approve: 'node', hold: 'other' }, 'hold'],
  ['hold without approve', { hold: 'node' }, 'hold'],
  ['a node that is no name', { node: 'Node_1' }, 'node'],
  ['a drain without an end', { drain: { timeout: '0s' } }, 'drain'],
  ['an unknown key', { drains: {} }, 'drains'],
  ['a grace period that is no duration', { drain: { gracePeriod: 'automatic' } }, 'drain'],
  ['a condition twice', { conditions: ['A', 'A'] }, 'conditions'],
  ['no condition', { conditions: [] }, 'conditions'],
  ['a condition that is no name', { conditions: ['a b'] }, 'conditions'],
  ['conditions without the step', { conditions: ['VMEventScheduled'] }, 'conditions'],
] as const)
  test(`${what} is a fault`, () => {
    const { issues = [] } = v.safeParse(kubernetesOptions, { ...DRAIN, ...given });
    assert.equal(issues[0]?.path?.[0]?.key, path);
  });

function opened(given: object, secrets: Readonly<Record<string, string>>) {
  const options = v.parse(kubernetesOptions, { ...DRAIN, ...given });
  openSecrets(options, secrets);
  return options;
}

test('a configuration outside of a cluster and without kubeconfig is told so, at its key', () => {
  const sinks = 'sinks: { node: { type: kubernetes, node: a, prepare: [taint] } }';
  const faults = (env: Readonly<Record<string, string>>) =>
    faultsOf(`version: 1\n${sinks}`, { ...surroundings({ ...env }), adapters: ADAPTERS });
  assert.match(faults({}).join(), /^sinks\.node\.kubeconfig: is missing: without it, the bridge must run in a pod/);
  assert.deepEqual(faults({ KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }), []);
});

test('outside of a cluster, kubeconfig is missing', () => {
  const address = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  assert.deepEqual(kubernetesSink.secretFaults?.(opened({}, address)), []);
  for (const given of [
    {},
    { ...address, KUBERNETES_SERVICE_HOST: 'https://a' },
    { ...address, KUBERNETES_SERVICE_PORT: 'x' },
  ]) {
    const fault: OptionFault | undefined = kubernetesSink.secretFaults?.(opened({}, given))[0];
    assert.equal(fault?.key, 'kubeconfig');
    assert.match(fault?.message ?? '', /KUBERNETES_SERVICE_HOST/);
  }
});

test('a node from the environment must be a name of a node', () => {
  const given = { node: { env: 'NODE_NAME' } };
  const secrets = { NODE_NAME: 'no node', KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
  assert.equal(kubernetesSink.secretFaults?.(opened(given, secrets))[0]?.key, 'node');
});

const SERVER = 'https://10.0.0.1:6443';

for (const [what, text, message] of [
  ['text that is no YAML', '{', /cannot be read as YAML/],
  ['another file', 'version: 1', /has no context for its current-context/],
  ['a cluster over http', JSON.stringify(kubeconfigOf('http://10.0.0.1')), /not an https:\/\/ URL/],
  [
    'a program for the token',
    JSON.stringify(kubeconfigOf(SERVER, { token: 'nobody-may-see', exec: {} })),
    /has exec, which is not supported/,
  ],
  ['a user without credentials', JSON.stringify(kubeconfigOf(SERVER, {})), /without a token or client certificate/],
  [
    'TLS that is not checked',
    JSON.stringify(kubeconfigOf(SERVER)).replace('"server"', '"insecure-skip-tls-verify":true,"server"'),
    /not supported/,
  ],
] as const)
  test(`a kubeconfig with ${what} is a fault that shows nothing of it`, async () => {
    const options = v.parse(kubernetesOptions, { ...DRAIN, kubeconfig: 'config' });
    assert.ok(options.kubeconfig instanceof Secret);
    options.kubeconfig.open(text, '/config');
    const [fault] = (await kubernetesSink.contentFaults?.(options)) ?? [];
    assert.equal(fault?.key, 'kubeconfig');
    assert.match(fault?.message ?? '', message);
    assert.doesNotMatch(fault?.message ?? '', /nobody-may-see/);
  });

test('a kubeconfig as kubectl writes it is none', async () => {
  const options = v.parse(kubernetesOptions, { ...DRAIN, kubeconfig: 'config' });
  options.kubeconfig?.open(JSON.stringify(kubeconfigOf(SERVER)), '/config');
  assert.deepEqual(await kubernetesSink.contentFaults?.(options), []);
});

test('a selector of pods is checked as the API server would', () => {
  const isFault = (selector: string) => !v.safeParse(kubernetesOptions, { ...DRAIN, drain: { selector } }).success;
  for (const selector of [
    'app=web',
    'app==web,tier!=db',
    'app',
    '!app',
    'example.com/team in (a, b),tier notin (c)',
    'app=',
    ' app = web , tier in (a,b) ',
  ])
    assert.ok(!isFault(selector), selector);
  for (const selector of ['', ',', 'app=web,', 'app in a', '-app', 'app=we b', '(app)', 'app=web)', 'a/b/c'])
    assert.ok(isFault(selector), selector);
});
