// Batches through a lane to a real receiver → what goes into one; a refusal narrowed to its event.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchId } from '../../../src/cloudevents/batch.ts';
import type { Answer, ReceivedRequest } from '../../far-sides/webhook-receiver.ts';
import { SECOND } from '../../virtual/lane-fixture.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { webhookLane } from './webhook-lane.ts';

const KIB = 1024;

/** Ids of the CloudEvents in a batch. */
function idsOf({ body }: ReceivedRequest): string[] {
  return JSON.parse(body.toString()).map(({ id }: { id: string }) => id);
}

/** Answers 204, but to a batch with one of these in it. */
function refusing(status: number, bad: readonly string[]): Answer {
  return (response, _, request) => {
    const refused = idsOf(request).some((id) => bad.includes(id));
    response.writeHead(refused ? status : 204).end();
  };
}

/** The numbers of samples by key, `a`, `b`, `c` in turn. */
const keyOf = (seq: number) => 'abc'[seq % 3] ?? 'a';
const idOf = (seq: number) => sampleDelivery({ seq, partitionKey: keyOf(seq) }).id;

async function laneWith(
  t: Parameters<typeof webhookLane>[0],
  count: number,
  options: Readonly<Record<string, unknown>> = {},
) {
  const fixture = await webhookLane(t, { options: { mode: 'batch', ...options } });
  const taken: string[] = [];
  const record = (answer: Answer): Answer => {
    return (response, socket, request) => {
      response.on('finish', () => {
        if (response.statusCode === 204) taken.push(...idsOf(request));
      });
      if (typeof answer === 'function') answer(response, socket, request);
    };
  };
  for (let seq = 0; seq < count; seq++) fixture.queue({ seq, partitionKey: keyOf(seq) });
  return { ...fixture, taken, record };
}

/** Every id is that of what is in the body, so that a half is another request than the whole. */
function assertIds(requests: readonly ReceivedRequest[]): void {
  for (const request of requests) assert.equal(request.headers['webhook-id'], batchId(idsOf(request)));
}

test('queued events are sent in one request, in order, as a batch (H-13)', async (t) => {
  const { receiver, pass, store } = await laneWith(t, 10);
  await pass(0);
  assert.equal(receiver.requests.length, 1);
  const [request] = receiver.requests;
  assert.ok(request);
  const members = Array.from({ length: 10 }, (_, seq) => sampleDelivery({ seq, partitionKey: keyOf(seq) }));
  assert.equal(request.body.toString(), `[${members.map(({ bytes }) => Buffer.from(bytes).toString()).join(',')}]`);
  assert.equal(request.headers['content-type'], 'application/cloudevents-batch+json; charset=utf-8');
  assertIds([request]);
  assert.equal(store.accepted.length, 10);
});

test('one event alone does not wait for others, and is a batch of one', async (t) => {
  const { receiver, pass } = await laneWith(t, 1);
  await pass(0);
  assert.deepEqual(receiver.requests.map(idsOf), [[idOf(0)]]);
  assertIds(receiver.requests);
});

test('maxBatch bounds the members of a request', async (t) => {
  const { receiver, pass, store } = await laneWith(t, 10, { maxBatch: 4 });
  await pass(0);
  assert.equal(store.accepted.length, 10);
  assert.ok(receiver.requests.every((request) => idsOf(request).length <= 4));
});

test('a body has at most 64 KiB, including brackets and commas; a larger event is sent alone', async (t) => {
  const { receiver, pass, queue, store } = await webhookLane(t, { options: { mode: 'batch' } });
  for (let seq = 0; seq < 30; seq++) queue({ seq, partitionKey: `key-${seq}`, padding: 6 * KIB });
  queue({ seq: 30, partitionKey: 'large', padding: 70 * KIB });
  await pass(0);
  assert.equal(store.accepted.length, 31);
  const sizes = receiver.requests.map((request) => ({
    bytes: request.body.byteLength,
    members: idsOf(request).length,
  }));
  const large = sizes.filter(({ bytes }) => bytes > 64 * KIB);
  assert.deepEqual(
    large.map(({ members }) => members),
    [1],
  );
  assert.ok(
    sizes.some(({ bytes }) => bytes > 56 * KIB && bytes <= 64 * KIB),
    'requests are filled',
  );
});

test('maxBatchBytes replaces the 64 KiB', async (t) => {
  const { receiver, pass, queue } = await webhookLane(t, { options: { mode: 'batch', maxBatchBytes: '8KiB' } });
  for (let seq = 0; seq < 12; seq++) queue({ seq, partitionKey: `key-${seq}`, padding: 2 * KIB });
  await pass(0);
  assert.deepEqual(
    receiver.requests.map((request) => idsOf(request).length),
    [3, 3, 3, 3],
  );
  assert.ok(receiver.requests.every(({ body }) => body.byteLength <= 8 * KIB));
});

for (const bad of [[0], [4], [9], [2, 3], [0, 5, 9], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]) {
  test(`of ten events the receiver refuses ${bad.join(', ')}: only these become dead letters, the others arrive in order`, async (t) => {
    const { receiver, pass, store, taken, record } = await laneWith(t, 10);
    receiver.default = record(refusing(422, bad.map(idOf)));
    await pass(0);
    assert.deepEqual(
      store.dead.map(({ row, reason, status }) => [row.id, reason, status]),
      bad.map((seq) => [idOf(seq), 'refused', 422]),
    );
    const good = Array.from({ length: 10 }, (_, seq) => seq).filter((seq) => !bad.includes(seq));
    assert.deepEqual(taken, good.map(idOf));
    assert.equal(store.open.length, 0);
    assertIds(receiver.requests);
    const ids = receiver.requests.map(({ headers }) => headers['webhook-id']);
    assert.equal(new Set(ids).size, ids.length, 'a half is a new batch');
  });
}

test('a receiver that accepts only smaller bodies (413) gets smaller ones, and nothing is lost', async (t) => {
  const { receiver, pass, store, taken, record } = await laneWith(t, 10);
  receiver.default = record(
    (response, _, { body }) => void response.writeHead(body.byteLength > 2 * KIB ? 413 : 204).end(),
  );
  await pass(0);
  assert.deepEqual([store.accepted.length, store.dead.length], [10, 0]);
  assert.deepEqual(
    taken,
    Array.from({ length: 10 }, (_, seq) => idOf(seq)),
  );
});

test('a fault in the middle of the halving keeps the order of each key', async (t) => {
  const { receiver, pass, store, taken, record } = await laneWith(t, 10);
  const refuse = refusing(422, [idOf(1)]);
  let requests = 0;
  receiver.default = record((response, socket, request) => {
    requests += 1;
    if (requests === 2) response.writeHead(503).end();
    else if (typeof refuse === 'function') refuse(response, socket, request);
  });
  for (let step = 0; step < 60 && store.open.length > 0; step++) await pass(SECOND);
  assert.deepEqual(
    store.dead.map(({ row }) => row.id),
    [idOf(1)],
  );
  for (const key of 'abc') {
    const sent = taken.filter((id) => id.startsWith(`${key}:`));
    assert.deepEqual(
      sent,
      Array.from({ length: 10 }, (_, seq) => seq)
        .filter((seq) => keyOf(seq) === key && seq !== 1)
        .map(idOf),
    );
  }
});

test('a batch without an answer is sent again with the same id and bytes', async (t) => {
  const { receiver, pass, store } = await laneWith(t, 2);
  receiver.next('reset');
  await pass(0);
  assert.equal(store.open.length, 2);
  await pass(SECOND);
  const [first, second] = receiver.requests;
  assert.equal(receiver.requests.length, 2);
  assert.equal(idsOf(first as ReceivedRequest).length, 2);
  assert.deepEqual(first?.body, second?.body);
  assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id']);
  assert.equal(store.accepted.length, 2);
});

test('Retry-After on a batch holds the sink, then the same batch is sent again', async (t) => {
  const { receiver, pass, store } = await laneWith(t, 2);
  receiver.next({ status: 429, headers: { 'retry-after': '7' } });
  await pass(0);
  await pass(6.9 * SECOND);
  assert.equal(receiver.requests.length, 1);
  await pass(0.2 * SECOND);
  const [first, second] = receiver.requests;
  assert.deepEqual(first?.body, second?.body);
  assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id']);
  assert.equal(store.accepted.length, 2);
});

test('a failed batch of many events opens the circuit breaker: one event is sent first, then those of the other keys, then its own', async (t) => {
  const { receiver, pass, store, lane } = await laneWith(t, 10);
  receiver.next({ status: 503 });
  await pass(0);
  assert.equal(lane.status().state, 'probing');
  await pass(SECOND);
  assert.deepEqual(
    receiver.requests.map((request) => idsOf(request).length),
    [10, 1, 6, 3],
  );
  assert.equal(store.accepted.length, 10);
  assertIds(receiver.requests);
});
