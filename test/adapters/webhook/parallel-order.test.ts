// A lane with 16 requests at once, answers in any order or none → each key in order, none held up.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { WebhookReceiver } from '../../far-sides/webhook-receiver.ts';
import { poll } from '../../support/poll.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createWebhook } from './start-webhook.ts';
import { webhookLane } from './webhook-lane.ts';

const KEYS = 24;
const OF_EACH = 20;

for (const seed of [1, 2, 3]) {
  test(`with answers in random order and occasional refusals each key keeps its order (seed ${seed})`, async (t) => {
    const { random } = new VirtualTime({ seed });
    const { receiver, time, store, queue } = await webhookLane(t);
    const held: { key: string; response: ServerResponse }[] = [];
    let most = 0;
    receiver.default = (response, _socket, { headers }) => {
      held.push({ key: String(headers['webhook-id']).split(':')[0] ?? '', response });
      most = Math.max(most, held.length);
      assert.equal(new Set(held.map(({ key }) => key)).size, held.length, 'no key is under way twice');
    };
    for (let seq = 1; seq <= KEYS * OF_EACH; seq += 1) queue({ seq, partitionKey: `key-${seq % KEYS}` });
    await poll(async () => {
      const [chosen] = held.splice(Math.floor(random() * held.length), 1);
      if (random() < 0.1) await time.advance(300);
      chosen?.response.writeHead(random() < 0.1 ? 503 : 204).end();
      await time.advance(0);
      return store.accepted.length === KEYS * OF_EACH;
    }, 'every delivery to be accepted');
    for (let key = 0; key < KEYS; key += 1) {
      const seqs = store.accepted.filter(({ partitionKey }) => partitionKey === `key-${key}`).map(({ seq }) => seq);
      assert.deepEqual(
        seqs,
        seqs.toSorted((a, b) => a - b),
      );
      assert.equal(seqs.length, OF_EACH);
    }
    assert.ok(most > 8 && most <= 16, `${most} at once`);
    assert.ok(receiver.connections <= 16, `${receiver.connections} connections`);
  });
}

test('keys without an answer delay neither other keys nor another sink, and are retried after the time limit', async (t) => {
  const { receiver, time, store, queue, pass } = await webhookLane(t, { options: { timeout: '3s' } });
  const other = await webhookLane(t);
  const answered: ServerResponse[] = [];
  let isStuck = true;
  receiver.default = (response, _socket, { headers }) => {
    if (isStuck && String(headers['webhook-id']).startsWith('stuck')) answered.push(response);
    else response.writeHead(204).end();
  };
  for (let seq = 1; seq <= 15; seq += 1) queue({ seq, partitionKey: `stuck-${seq}` });
  for (let seq = 16; seq <= 65; seq += 1) queue({ seq, partitionKey: `free-${seq}` });
  for (let seq = 1; seq <= 50; seq += 1) other.queue({ seq, partitionKey: `key-${seq}` });
  await poll(async () => {
    await Promise.all([time.advance(0), other.time.advance(0)]);
    return store.accepted.length === 50 && other.store.accepted.length === 50;
  }, 'all but the stuck ones');
  assert.deepEqual(new Set(store.accepted.map(({ partitionKey }) => partitionKey.split('-')[0])), new Set(['free']));
  assert.equal(receiver.connections, 16);
  isStuck = false;
  await pass(3000);
  await poll(async () => {
    await time.advance(1000);
    return store.accepted.length === 65;
  }, 'the stuck ones to be accepted');
  assert.equal(answered.filter((response) => response.destroyed).length, 15, 'their first connections were given up');
});

test('any number of parallel deliveries uses at most sixteen connections', async (t) => {
  const receiver = await WebhookReceiver.start();
  t.after(() => receiver.stop());
  const { adapter } = createWebhook(t, { options: { url: receiver.url } });
  const never = new AbortController().signal;
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, seq) => adapter.deliver([sampleDelivery({ seq })], never)),
  );
  assert.deepEqual(new Set(outcomes.flat()), new Set(['accepted']));
  assert.equal(receiver.connections, 16);
});
