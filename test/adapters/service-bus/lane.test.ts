// A namespace, a service-bus sink, its lane on virtual time → order, pauses and states.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterLane } from '../adapter-lane.ts';
import { QUEUE, startServiceBus } from './start-service-bus.ts';

async function serviceBusLane(t: TestContext) {
  const time = new VirtualTime();
  const { server, adapter, deps } = await startServiceBus(t, { time, options: { queue: 'lane' } });
  const held = server.queue('lane', { duplicateDetection: '10m' });
  const fixture = adapterLane({ adapter, deps, time, atEnd: (close) => server.closeFirst(close) });
  return {
    ...fixture,
    server,
    heldIds: () => held.messages().map(({ messageId }) => messageId),
    pass: async (ms: number) => {
      server.clock.advance(ms);
      await fixture.pass(ms);
    },
  };
}

test('a server that is busy for a minute gets one attempt after each pause, and then everything in order', async (t) => {
  const { server, queue, pass, heldIds, states, store } = await serviceBusLane(t);
  server.faults.busyFor('1m');
  const ids = [1, 2, 3].flatMap((seq) => ['a', 'b', 'c', 'd'].map((partitionKey) => queue({ seq, partitionKey })));
  for (let second = 0; second < 90; second++) await pass(1000);
  assert.deepEqual([...heldIds()].sort(), [...ids].sort());
  for (const key of ['a', 'b', 'c', 'd'])
    assert.deepEqual(
      heldIds().filter((id) => id?.startsWith(`${key}:`)),
      ids.filter((id) => id.startsWith(`${key}:`)),
    );
  const busy = server.contacts('send').filter(({ outcome }) => outcome !== 'accepted');
  assert.ok(busy.length <= 4 + 30, `${busy.length} sends in a minute that the server asked to leave it alone`);
  assert.ok(states.some(({ state }) => state === 'held'));
  assert.equal(states.at(-1)?.state, 'delivering');
  assert.deepEqual(store.dead, []);
});

test('a cut in the middle of a backlog changes neither order nor number of the messages', async (t) => {
  const { server, queue, pass, heldIds } = await serviceBusLane(t);
  server.faults.onSend({ do: 'drop', stored: true }, { times: 3 });
  const ids: string[] = [];
  for (let seq = 1; seq <= 5; seq++) {
    ids.push(queue({ seq, partitionKey: 'a' }));
    await pass(0);
  }
  for (let second = 0; second < 30; second++) await pass(1000);
  assert.deepEqual(heldIds(), ids);
});

test('only a message that is too large for the entity becomes a dead letter, and the others of its batch arrive', async (t) => {
  const { server, queue, pass, heldIds, store } = await serviceBusLane(t);
  server.maxMessageSize = 66_000;
  const before = queue({ seq: 1, partitionKey: 'a' });
  const large = queue({ seq: 2, partitionKey: 'a', padding: 70_000 });
  const after = queue({ seq: 3, partitionKey: 'a' });
  for (let second = 0; second < 3; second++) await pass(1000);
  assert.deepEqual(heldIds(), [before, after]);
  assert.deepEqual(
    store.dead.map(({ row, reason, status }) => [row.id, reason, status]),
    [[large, 'refused', 'MessageSizeExceeded']],
  );
});

test('a full queue is retried slowly and reported as misconfigured, and nothing is given up', async (t) => {
  const { server, queue, pass, heldIds, states, store } = await serviceBusLane(t);
  server.queue('lane').full = true;
  const ids = [1, 2].map((seq) => queue({ seq }));
  for (let second = 0; second < 60; second++) await pass(1000);
  assert.ok(server.contacts('send').length <= 8);
  assert.ok(states.some(({ state, reason }) => state === 'misconfigured' && reason?.includes('no space left')));
  server.queue('lane').full = false;
  for (let round = 0; round < 60; round++) await pass(10_000);
  assert.deepEqual(heldIds(), ids);
  assert.deepEqual([store.dead, server.queue(QUEUE).messages()], [[], []]);
});
