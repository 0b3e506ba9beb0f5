// What an API server answers → what becomes of the delivery.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failed } from '../contract.ts';
import { startKubernetes } from './start-kubernetes.ts';

for (const [status, code, disposition] of [
  [401, 'MISCONFIGURED', 'misconfigured'],
  [403, 'MISCONFIGURED', 'misconfigured'],
  [409, 'UNAVAILABLE', 'retry'],
  [410, 'UNAVAILABLE', 'retry'],
  [422, 'REFUSED', 'refused'],
  [429, 'UNAVAILABLE', 'retry'],
  [500, 'UNAVAILABLE', 'retry'],
  [302, 'MISCONFIGURED', 'misconfigured'],
] as const)
  test(`an API server that answers ${status} makes the delivery ${disposition}`, async (t) => {
    const { api, deliver } = await startKubernetes(t);
    api.receiver.default = { status };
    const failure = failed(await deliver('scheduled').catch((error) => error));
    assert.deepEqual([failure.code, failure.disposition], [`BRIDGE_KUBERNETES_${code}`, disposition]);
  });

test('an answer that is not an object of Kubernetes is retried', async (t) => {
  const { api, deliver } = await startKubernetes(t);
  for (const body of ['<html>', '[]', '{}', '{"metadata":{"name":1}}']) {
    api.receiver.default = { status: 200, body };
    assert.equal(failed(await deliver('scheduled').catch((error) => error)).code, 'BRIDGE_KUBERNETES_ANSWER');
  }
});
