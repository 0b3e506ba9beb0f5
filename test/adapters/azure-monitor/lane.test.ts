// An Azure Monitor sink on a lane in virtual time → refusals and absences: nothing is lost.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { poll } from '../../support/poll.ts';
import { HOUR, SECOND } from '../../virtual/lane-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterLane } from '../adapter-lane.ts';
import { type AzureMonitorSetup, startAzureMonitor } from './start-azure-monitor.ts';

async function onLane(t: TestContext, { options }: AzureMonitorSetup = {}) {
  const time = new VirtualTime({ startMs: Date.now() });
  const { adapter, endpoint, entra, deps } = await startAzureMonitor(t, { time, ...(options && { options }) });
  entra.wallMs = time.wallMs;
  return { lane: adapterLane({ adapter, deps, time, atEnd: (close) => t.after(close) }), endpoint, entra, time };
}

test('a token that is taken no more is changed for a new one within the same attempt', async (t) => {
  const { lane, endpoint, entra } = await onLane(t);
  lane.queue();
  await lane.pass(0);
  endpoint.revoked.add('token-1');
  lane.queue({ seq: 2 });
  await lane.pass(0);
  assert.deepEqual(endpoint.tokens, ['token-1', 'token-1', 'token-2']);
  assert.deepEqual([lane.store.accepted.length, lane.lane.status().state, entra.requests.length], [2, 'delivering', 2]);
});

test('where the new token is refused too, the sink is misconfigured, and delivers once tokens are taken again', async (t) => {
  const { lane, endpoint } = await onLane(t);
  for (const token of ['token-1', 'token-2', 'token-3', 'token-4']) endpoint.revoked.add(token);
  lane.queue();
  await lane.pass(0);
  assert.equal(lane.lane.status().state, 'misconfigured');
  assert.match(lane.lane.status().reason ?? '', /answered 401: check that the identity belongs to the tenant of the rule/);
  assert.deepEqual(endpoint.tokens, ['token-1', 'token-2']);
  await lane.pass(10 * SECOND);
  assert.deepEqual([endpoint.tokens.length, lane.store.accepted.length], [4, 0]);
  for (let second = 0; second < 20; second++) await lane.pass(SECOND);
  assert.deepEqual([endpoint.tokens.at(-1), lane.store.accepted.length, lane.store.dead.length], ['token-5', 1, 0]);
});

test('a batch that is too large goes in halves, until the event to blame is the dead letter', async (t) => {
  const { lane, endpoint } = await onLane(t);
  endpoint.tooLarge = 'too-much';
  for (let seq = 1; seq <= 8; seq++) lane.queue({ seq, partitionKey: `key-${seq}`, mark: seq === 6 ? 'too-much' : '' });
  await lane.pass(SECOND);
  assert.deepEqual(
    lane.store.dead.map(({ row, status }) => [row.partitionKey, status]),
    [['key-6', 413]],
  );
  assert.deepEqual([lane.store.accepted.length, endpoint.rows.length], [7, 7]);
});

test('an endpoint that is away from the start, and for an hour, gets everything once it is there', async (t) => {
  const { lane, endpoint } = await onLane(t);
  await endpoint.receiver.stop();
  for (const partitionKey of ['a', 'b', 'c']) lane.queue({ partitionKey });
  await lane.pass(HOUR);
  await endpoint.receiver.start();
  await lane.pass(10 * SECOND);
  assert.deepEqual([lane.store.accepted.length, endpoint.rows.length, lane.store.dead.length], [3, 3, 0]);
});

test('an endpoint that goes away in the midst of a batch may have it twice, and loses none', async (t) => {
  const { lane, endpoint } = await onLane(t);
  const work = endpoint.receiver.default;
  endpoint.receiver.next((response, socket, request) => {
    if (typeof work === 'function') work(response, socket, request);
    socket.destroy();
  });
  for (const partitionKey of ['a', 'b', 'c']) lane.queue({ partitionKey });
  await lane.pass(SECOND);
  assert.deepEqual([lane.store.accepted.length, lane.store.dead.length], [3, 0]);
  assert.equal(new Set(endpoint.rows.map(({ EventId }) => EventId)).size, 3);
});

test('an endpoint that asks for a pause is left alone for so long', async (t) => {
  const { lane, endpoint } = await onLane(t);
  endpoint.throttle = 60;
  lane.queue();
  await lane.pass(0);
  endpoint.throttle = null;
  await lane.pass(59 * SECOND);
  assert.deepEqual([endpoint.rows.length, lane.lane.status().state], [0, 'held']);
  await lane.pass(2 * SECOND);
  assert.equal(lane.store.accepted.length, 1);
});

const TIMEOUT = { options: { timeout: '3s' } };

test('an endpoint that is slow is given up after timeout, and tried again', async (t) => {
  const { lane, endpoint, time } = await onLane(t, TIMEOUT);
  endpoint.receiver.next('hang');
  lane.queue();
  await poll(() => endpoint.receiver.requests.length === 1, 'the batch');
  await time.advance(3 * SECOND);
  await poll(() => /did not answer within 3s/.test(lane.lane.status().reason ?? ''), 'the time limit');
  for (let second = 0; second < 2; second++) await lane.pass(SECOND);
  assert.equal(lane.store.accepted.length, 1);
});

test('an Entra ID that is slow is named in the place of the endpoint, which is not asked', async (t) => {
  const { lane, endpoint, entra, time } = await onLane(t, TIMEOUT);
  entra.answer = () => 'never';
  lane.queue();
  await poll(() => entra.requests.length === 1, 'the question for a token');
  await time.advance(3 * SECOND);
  await poll(() => /credential managed-identity gave no token within 3s/.test(lane.lane.status().reason ?? ''), 'the time limit');
  assert.equal(endpoint.receiver.connections, 0);
});

test('a sink without a delivery asks nobody anything, and sets no timer', async (t) => {
  const { lane, endpoint, entra } = await onLane(t);
  lane.queue();
  await lane.pass(0);
  await lane.pass(24 * HOUR);
  assert.deepEqual([endpoint.receiver.requests.length, entra.requests.length], [1, 1]);
});
