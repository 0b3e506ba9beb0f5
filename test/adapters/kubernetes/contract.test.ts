// The adapter contract for kubernetes: what holds for a sink that sends no CloudEvent on.
import type { TestContext } from 'node:test';
import { CloudEvent } from 'cloudevents';
import { kubernetesSink } from '../../../adapters/kubernetes/kubernetes.ts';
import { NodeApi, TOKEN } from '../../far-sides/kubernetes/node-routes.ts';
import { type FarSide, testAdapter } from '../contract.ts';
import { receiverSwitches } from '../receiver-switches.ts';
import { ALL, kubeconfigFile } from './start-kubernetes.ts';

/** What AKS would call the VM that the samples are of, WestNO_0. */
const NODE = 'westno000000';

testAdapter({
  definition: kubernetesSink,
  start: startApi,
  awayIs: 'retry',
  skip: {
    'a delivery arrives as a valid CloudEvent, its bytes unchanged':
      'a node is prepared; the CloudEvent itself goes nowhere',
    'a key that gets no answer does not hold up another': 'one delivery at a time: they all change the same node',
  },
});

async function startApi(t: TestContext): Promise<FarSide> {
  const api = await NodeApi.start();
  t.after(() => api[Symbol.asyncDispose]());
  api.cluster.addNode(NODE);
  const { receiver } = api;
  const switches = receiverSwitches(receiver);
  return {
    options: { type: 'kubernetes', node: NODE, prepare: ALL, kubeconfig: kubeconfigFile(t, api) },
    secrets: { token: TOKEN },
    ...switches,
    accept: () => api.work(),
    // The Event on the node says which CloudEvent it is of.
    arrivals: () =>
      receiver.requests
        .filter(({ method, path, body }) => method === 'POST' && path.endsWith('/events') && !isOfStep(body))
        .map(({ body }) => ({
          bytes: body,
          event: new CloudEvent({ id: cloudEventOf(body), source: '/', type: 'event' }),
        })),
  };
}

/** A CloudEvent makes further Events on the node: for its drain, and for its end. */
function isOfStep(body: Uint8Array): boolean {
  const { reason } = JSON.parse(Buffer.from(body).toString()) as { readonly reason: string };
  return ['Drained', 'PodsLeft', 'Restored'].includes(reason);
}

function cloudEventOf(body: Uint8Array): string {
  const { metadata } = JSON.parse(Buffer.from(body).toString()) as {
    readonly metadata: { readonly annotations: Record<string, string> };
  };
  return metadata.annotations['scheduled-events-bridge.github.io/cloudevent'] ?? '';
}
