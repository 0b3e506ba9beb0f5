// Services other than Elasticsearch with a `_bulk` API → which of their answers count.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BulkGateway, type Gateway, ITEMS } from '../../far-sides/bulk-gateway.ts';
import { HOUR } from '../../virtual/lane-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterLane } from '../adapter-lane.ts';
import { failed } from '../contract.ts';
import { createElasticsearch, startElasticsearch } from './start-elasticsearch.ts';

const never = new AbortController().signal;

for (const gateway of Object.keys(ITEMS) as Gateway[])
  test(`${gateway} stores each event once: the sink accepts its answer`, async (t) => {
    const far = await BulkGateway.start(gateway);
    t.after(() => far[Symbol.asyncDispose]());
    const time = new VirtualTime();
    const { adapter, deps } = createElasticsearch(t, { options: { url: far.url }, time });
    const lane = adapterLane({ adapter, deps, time, atEnd: (close) => t.after(close) });
    for (let seq = 1; seq <= 25; seq++) lane.queue({ seq, partitionKey: `key-${seq}` });
    await lane.pass(0);
    await lane.pass(HOUR);
    assert.deepEqual([lane.store.accepted.length, far.records.length], [25, 25]);
  });

const CREATED = '{"create":{"status":201}}';
const INCOMPLETE: readonly (readonly [body: string, missing: string])[] = [
  ['<html>', 'it is not a JSON object'],
  ['{"errors":false}', 'it has no list of items'],
  ['{"errors":false,"items":[]}', '0 items for 2 documents'],
  [`{"items":[${CREATED}]}`, '1 item for 2 documents'],
  [`{"items":[${CREATED},${CREATED},${CREATED}]}`, '3 items for 2 documents'],
  [`{"items":[${CREATED},{"create":{"_id":"x"}}]}`, 'item 2 has no status'],
  [`{"items":[${CREATED},{}]}`, 'item 2 has no status'],
  [`{"items":[${CREATED},"created"]}`, 'item 2 has no status'],
  [`{"items":[{"create":{"_id":"another","status":201}},${CREATED}]}`, 'item 1 has the _id of another document'],
];

for (const [body, missing] of INCOMPLETE)
  test(`the answer ${body} is retried, and the message names the missing part`, async (t) => {
    const { far, deliver } = await startElasticsearch(t);
    far.receiver.default = { status: 200, body };
    const { code, disposition, message } = failed((await deliver({ seq: 1 }, { seq: 2 }))[0]);
    assert.deepEqual([code, disposition], ['BRIDGE_SINK_ANSWER', 'retry']);
    assert.ok(message.includes(`(${missing})`), message);
  });

test('an `_id` may be null, and any 2xx status is a success', async (t) => {
  const { far, deliver } = await startElasticsearch(t);
  far.receiver.default = { status: 200, body: '{"items":[{"create":{"_id":null,"status":202,"error":null}}]}' };
  assert.deepEqual(await deliver(), ['accepted']);
});

for (const status of [408, 425])
  test(`an item with ${status} is retried, like a request with that status`, async (t) => {
    const { far, deliver } = await startElasticsearch(t);
    far.fails = () => ({ status, type: 'timeout_exception' });
    assert.equal(failed((await deliver())[0]).disposition, 'retry');
  });

test('a check reports that Fluent Bit rejects a request without documents, and passes', async (t) => {
  const { far, adapter } = await startElasticsearch(t);
  far.receiver.default = { status: 400, body: 'error: no payload found\n' };
  assert.equal(
    await adapter.check(never),
    'answered 400 to a bulk request without documents, but not with an error of Elasticsearch; only a first document shows if it accepts any',
  );
});
