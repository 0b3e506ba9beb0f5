// CloudEvents that cannot become a request of their sink → dead letters, alone; nothing is sent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { webhookLane } from './webhook-lane.ts';

const MARK = 'hidden-payload';

/** Its attributes do not fit into headers. */
function withLongSubject(delivery: Delivery): Uint8Array {
  return Buffer.from(
    JSON.stringify({ ...JSON.parse(Buffer.from(delivery.bytes).toString()), subject: `${MARK}${'x'.repeat(7000)}` }),
  );
}

/** No JSON, as only a damaged journal would hold it. */
function cutShort({ bytes }: Delivery): Uint8Array {
  return Buffer.concat([bytes.subarray(0, 40), Buffer.from(MARK)]);
}

const CASES: readonly (readonly [
  what: string,
  options: Readonly<Record<string, unknown>>,
  spoil: (delivery: Delivery) => Uint8Array,
])[] = [
  ['attributes that are too long for headers, in binary mode', { mode: 'binary' }, withLongSubject],
  ['bytes that are no CloudEvent, in binary mode', { mode: 'binary' }, cutShort],
  ['bytes that are no CloudEvent, under a template', { body: { template: 'slack' } }, cutShort],
];

for (const [what, options, spoil] of CASES) {
  test(`${what}, make one dead letter at once; later changes of the event and other events are sent`, async (t) => {
    const { receiver, store, queue, pass, lane, told } = await webhookLane(t, { options });
    queue({ seq: 1, partitionKey: 'a' }, { bytes: spoil(sampleDelivery({ seq: 1, partitionKey: 'a' })) });
    queue({ seq: 2, partitionKey: 'a' });
    queue({ seq: 3, partitionKey: 'b' });
    await pass(0);
    assert.deepEqual(
      store.dead.map(({ row, reason, status }) => [row.seq, reason, status]),
      [[1, 'refused', 'BRIDGE_DELIVERY_UNENCODABLE']],
    );
    assert.deepEqual(store.accepted.map(({ seq }) => seq).sort(), [2, 3]);
    assert.deepEqual([receiver.requests.length, lane.status().state], [2, 'delivering']);
    const [line] = told();
    assert.equal(line?.['code'], 'BRIDGE_DELIVERY_UNENCODABLE');
    assert.doesNotMatch(JSON.stringify(told()), new RegExp(MARK));
  });
}

test('if a probe cannot be encoded, it becomes a dead letter and the circuit breaker stays open until another probe is accepted', async (t) => {
  const { receiver, store, queue, pass, lane } = await webhookLane(t, { options: { mode: 'binary' } });
  receiver.default = { status: 401 };
  queue({ seq: 1, partitionKey: 'a' });
  await pass(0);
  queue({ seq: 2, partitionKey: 'b' }, { bytes: cutShort(sampleDelivery()) });
  receiver.default = { status: 204 };
  for (let probe = 0; probe < 3 && store.accepted.length === 0; probe++) await pass(10_000);
  await pass(10_000);
  assert.deepEqual([store.dead.length, store.accepted.length, lane.status().state], [1, 1, 'delivering']);
});
