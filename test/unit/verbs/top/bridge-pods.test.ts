// A label selector and an API server → the addresses of the bridges' pods, or why there are none.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { systemDeps } from '../../../../src/time/system.ts';
import { findPods } from '../../../../src/verbs/top/bridge-pods.ts';
import type { VerbContext } from '../../../../src/verbs/verb.ts';
import { kubeconfigFile } from '../../../adapters/kubernetes/start-kubernetes.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../../far-sides/certificate.ts';
import { TOKEN } from '../../../far-sides/kubernetes/node-routes.ts';
import { WebhookReceiver } from '../../../far-sides/webhook-receiver.ts';

const never = new AbortController().signal;

function pod(podIP: string | undefined, ports: readonly object[] = [], more: object = {}): object {
  return { metadata: {}, spec: { containers: [{ ports }, {}] }, status: { podIP, phase: 'Running' }, ...more };
}

/** An API server that gives these pages of pods, one pod each. */
async function apiServer(t: TestContext, pods: readonly object[], status = 200) {
  const receiver = await WebhookReceiver.start({ tls: { cert: CERTIFICATE, key: PRIVATE_KEY } });
  t.after(() => receiver.stop());
  receiver.default = (response, _, { path }) => {
    const at = Number(new URLSearchParams(path.split('?')[1]).get('continue') ?? 0);
    const metadata = at + 1 < pods.length ? { continue: String(at + 1) } : {};
    const list = { kind: 'PodList', metadata, items: pods.slice(at, at + 1) };
    const body = status === 200 ? list : { kind: 'Status', message: 'pods is forbidden' };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const KUBECONFIG = kubeconfigFile(t, { url: new URL(receiver.url).origin });
  return { receiver, KUBECONFIG };
}

function contextOf(env: Readonly<Record<string, string>>, values: VerbContext['values'] = {}): VerbContext {
  return { values, env, deps: systemDeps() } as unknown as VerbContext;
}

test('running pods of all pages are found, by the port that is named https or http, or 8700', async (t) => {
  const { receiver, KUBECONFIG } = await apiServer(t, [
    pod('10.0.0.1', [
      { name: 'health', containerPort: 9000 },
      { name: 'https', containerPort: 8443 },
    ]),
    pod('10.0.0.2', [{ name: 'http', containerPort: 8701 }]),
    pod('fd00::3'),
    pod(undefined),
    pod('10.0.0.5', [], { status: { podIP: '10.0.0.5', phase: 'Pending' } }),
    pod('10.0.0.6', [], { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
  ]);
  const found = await findPods(contextOf({ KUBECONFIG }), 'app=bridge,tier in (a, b)')(never);
  assert.deepEqual(
    found.map(({ url }) => url.origin),
    ['https://10.0.0.1:8443', 'http://10.0.0.2:8701', 'http://[fd00::3]:8700'],
  );
  const [first] = receiver.requests;
  assert.equal(new URLSearchParams(first?.path.split('?')[1]).get('labelSelector'), 'app=bridge,tier in (a, b)');
  assert.equal(first?.headers.authorization, `Bearer ${TOKEN}`);
});

test("the operator's token goes to no pod over http without --allow-insecure", async (t) => {
  const { KUBECONFIG } = await apiServer(t, [pod('10.0.0.2')]);
  const env = { KUBECONFIG, MINE: 'token-of-mine' };
  await assert.rejects(findPods(contextOf(env, { 'token-env': 'MINE' }), 'app=bridge')(never), {
    message: /http:\/\/10\.0\.0\.2:8700 would receive the token in clear text/,
  });
  const allowed = contextOf(env, { 'token-env': 'MINE', 'allow-insecure': true });
  assert.equal((await findPods(allowed, 'app=bridge')(never))[0]?.headers['Authorization'], 'Bearer token-of-mine');
});

test('a right that is missing, and a kubeconfig that cannot be read, are named', async (t) => {
  const { KUBECONFIG } = await apiServer(t, [], 403);
  await assert.rejects(findPods(contextOf({ KUBECONFIG }), 'app=bridge')(never), {
    message: /^--kubernetes app=bridge: the API server answered 403: pods is forbidden; .* right to list pods/,
  });
  assert.throws(() => findPods(contextOf({ KUBECONFIG: '/does/not/exist' }), 'app=bridge'), {
    code: 'BRIDGE_USAGE',
    message: /needs a kubeconfig, or to run in a pod: \/does\/not\/exist cannot be read \(ENOENT\)/,
  });
});
