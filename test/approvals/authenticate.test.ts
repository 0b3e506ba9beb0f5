import assert from 'node:assert/strict';
import test from 'node:test';
import { createAuthenticator } from '../../src/approvals/authenticate.ts';
import { Secret } from '../../src/secret.ts';

function token(value: string): Secret {
  const secret = new Secret({ env: 'TOKEN' });
  secret.open(value);
  return secret;
}

const authenticate = createAuthenticator({
  approvers: {
    orders: { tokens: [token('orders-token-0001'), token('orders-token-0002')] },
    billing: { tokens: [token('billing-token-001')] },
  },
  readers: { grafana: { tokens: [token('grafana-token-001')] } },
});

test('each token of an approver names it, also while one is being replaced', () => {
  assert.deepEqual(authenticate('orders-token-0001'), { kind: 'approver', name: 'orders' });
  assert.deepEqual(authenticate('orders-token-0002'), { kind: 'approver', name: 'orders' });
  assert.deepEqual(authenticate('billing-token-001'), { kind: 'approver', name: 'billing' });
});

test('a reader is told from an approver', () => {
  assert.deepEqual(authenticate('grafana-token-001'), { kind: 'reader', name: 'grafana' });
});

test('nobody has a token that is shorter, longer, empty or in another letter case', () => {
  for (const wrong of ['orders-token-000', 'orders-token-00011', '', 'ORDERS-TOKEN-0001']) assert.equal(authenticate(wrong), null);
});

test('without callers nobody is known', () => {
  assert.equal(createAuthenticator({ approvers: {}, readers: {} })(''), null);
});
