// A checked configuration → the values of its secrets.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesSink } from '../../../adapters/kubernetes/kubernetes.ts';
import { secretTexts } from '../../../src/config/secrets.ts';
import { ADAPTERS, configOf, OTHER_TOKEN, surroundings, TOKEN } from '../../support/config.ts';

const CLUSTER = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '6443' };

test('the texts to hide are the secrets of all sections, each once, and no address of the surroundings', () => {
  const env = { T: TOKEN, U: OTHER_TOKEN, V: 'https://hooks.example.com/x', ...CLUSTER };
  const around = { ...surroundings(env), adapters: [...ADAPTERS, kubernetesSink] };
  const config = configOf(
    `version: 1
http: { readers: { grafana: { token: { env: T } } } }
approvals: { approvers: { orders: { token: { env: U } } } }
sinks:
  hooks: { type: webhook, url: { env: V }, secrets: [{ env: T }] }
  node: { type: kubernetes, prepare: [cordon], node: web-0 }`,
    around,
  );
  assert.deepEqual(secretTexts(config), [TOKEN, OTHER_TOKEN, env.V]);
});
