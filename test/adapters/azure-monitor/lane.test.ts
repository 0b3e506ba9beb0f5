// An Azure Monitor sink in virtual time, rejected tokens → new tokens, and no event lost.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { poll } from '../../support/poll.ts';
import { SECOND } from '../../virtual/lane-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterLane } from '../adapter-lane.ts';
import { type AzureMonitorSetup, startAzureMonitor } from './start-azure-monitor.ts';

async function onLane(t: TestContext, { options }: AzureMonitorSetup = {}) {
  const time = new VirtualTime({ startMs: Date.now() });
  const { adapter, endpoint, entra, deps } = await startAzureMonitor(t, { time, ...(options && { options }) });
  entra.wallMs = time.wallMs;
  return { lane: adapterLane({ adapter, deps, time, atEnd: (close) => t.after(close) }), endpoint, entra, time };
}

test('a rejected token is replaced by a new one within the same attempt', async (t) => {
  const { lane, endpoint, entra } = await onLane(t);
  lane.queue();
  await lane.pass(0);
  endpoint.revoked.add('token-1');
  lane.queue({ seq: 2 });
  await lane.pass(0);
  assert.deepEqual(endpoint.tokens, ['token-1', 'token-1', 'token-2']);
  assert.deepEqual([lane.store.accepted.length, lane.lane.status().state, entra.requests.length], [2, 'delivering', 2]);
});

test('if the new token is rejected too, the sink is misconfigured, and delivers after tokens are accepted again', async (t) => {
  const { lane, endpoint } = await onLane(t);
  for (const token of ['token-1', 'token-2', 'token-3', 'token-4']) endpoint.revoked.add(token);
  lane.queue();
  await lane.pass(0);
  assert.equal(lane.lane.status().state, 'misconfigured');
  assert.match(
    lane.lane.status().reason ?? '',
    /answered 401: check that the identity belongs to the tenant of the rule/,
  );
  assert.deepEqual(endpoint.tokens, ['token-1', 'token-2']);
  await lane.pass(10 * SECOND);
  assert.deepEqual([endpoint.tokens.length, lane.store.accepted.length], [4, 0]);
  for (let second = 0; second < 20; second++) await lane.pass(SECOND);
  assert.deepEqual([endpoint.tokens.at(-1), lane.store.accepted.length, lane.store.dead.length], ['token-5', 1, 0]);
});

const TIMEOUT = { options: { timeout: '3s' } };

test('if Entra ID is slow, the message names it and not the endpoint, which gets no request', async (t) => {
  const { lane, endpoint, entra, time } = await onLane(t, TIMEOUT);
  entra.answer = () => 'never';
  lane.queue();
  await poll(() => entra.requests.length === 1, 'the request for a token');
  await time.advance(3 * SECOND);
  await poll(
    () => /credential managed-identity gave no token within 3s/.test(lane.lane.status().reason ?? ''),
    'the time limit',
  );
  assert.equal(endpoint.receiver.connections, 0);
});
