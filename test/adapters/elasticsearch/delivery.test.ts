// An index on loopback → stored documents, and the outcome of each status.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { Disposition } from '../../../src/errors.ts';
import { SECOND } from '../../virtual/lane-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterLane } from '../adapter-lane.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createElasticsearch, type ElasticsearchSetup, startElasticsearch } from './start-elasticsearch.ts';

const never = new AbortController().signal;

async function onLane(t: TestContext, setup: ElasticsearchSetup = {}) {
  const time = new VirtualTime();
  const { adapter, far, deps } = await startElasticsearch(t, { ...setup, time });
  return { lane: adapterLane({ adapter, deps, time, atEnd: (close) => t.after(close) }), far };
}

test('a document’s id is the hash of the CloudEvent’s source and id, and it is stored in the configured index', async (t) => {
  const { far, deliver } = await startElasticsearch(t, { options: { index: 'logs-x-y' } });
  await deliver({ seq: 1 });
  const { index, id, source } = far.documents[0] ?? assert.fail('nothing arrived');
  const event = JSON.parse(Buffer.from(sampleDelivery({ seq: 1 }).bytes).toString());
  assert.deepEqual(
    [index, id],
    ['logs-x-y', createHash('sha256').update(`${event.source}\n${event.id}`).digest('hex')],
  );
  assert.equal(source['@timestamp'], event.time);
  assert.equal((source['event'] as { id: string }).id, event.id);
});

test('url may be the base of the cluster or end in /_bulk; a path before that is kept', async (t) => {
  const { far } = await startElasticsearch(t);
  for (const path of ['', '/', '/_bulk', '/_bulk/', '/search', '/search/_bulk']) {
    assert.deepEqual(
      await createElasticsearch(t, { options: { url: `${far.url}${path}` } }).deliver({}),
      ['accepted'],
      path,
    );
  }
  const usual = Array.from({ length: 4 }, () => '/_bulk');
  assert.deepEqual(
    far.receiver.requests.map(({ path }) => path),
    [...usual, '/search/_bulk', '/search/_bulk'],
  );
});

test('several VMs that see one event create one document, and the delivery of each is accepted', async (t) => {
  const { far, deliver, adapter } = await startElasticsearch(t);
  assert.deepEqual(await deliver({ seq: 1 }), ['accepted']);
  const other = sampleDelivery({ seq: 1 });
  const seen = JSON.parse(Buffer.from(other.bytes).toString());
  const bytes = Buffer.from(JSON.stringify({ ...seen, data: { ...seen.data, observer: { name: 'WestNO_1' } } }));
  assert.deepEqual(await adapter.deliver([{ ...other, bytes }, sampleDelivery({ seq: 2 })], never), [
    'accepted',
    'accepted',
  ]);
  assert.equal(far.documents.length, 2);
});

const ITEMS: readonly (readonly [status: number, type: string, expected: Disposition | 'accepted'])[] = [
  [409, 'version_conflict_engine_exception', 'accepted'],
  [400, 'mapper_parsing_exception', 'refused'],
  [413, 'too_large', 'refused'],
  [429, 'es_rejected_execution_exception', 'retry'],
  [500, 'unknown', 'retry'],
  [503, 'unavailable_shards_exception', 'retry'],
  [200, 'odd', 'retry'],
  [401, 'security_exception', 'misconfigured'],
  [403, 'cluster_block_exception', 'misconfigured'],
  [404, 'index_not_found_exception', 'misconfigured'],
  [400, 'index_closed_exception', 'misconfigured'],
  [400, 'invalid_index_name_exception', 'misconfigured'],
];

for (const [status, type, expected] of ITEMS)
  test(`an item with ${status} ${type} is ${expected}, next to any others`, async (t) => {
    const { far, deliver } = await startElasticsearch(t);
    far.fails = ({ source }) => (JSON.stringify(source).includes('odd one') ? { status, type } : null);
    const [first, odd, last] = await deliver({ seq: 1 }, { seq: 2, mark: 'odd one' }, { seq: 3 });
    assert.deepEqual([first, last], ['accepted', 'accepted']);
    if (expected === 'accepted') return assert.equal(odd, 'accepted');
    const failure = failed(odd);
    assert.deepEqual(
      [failure.disposition, failure.status, failure.isNamed],
      [expected, status, expected === 'refused'],
    );
    assert.ok(failure.message.includes(`(${type})`), failure.message);
  });

test('a message quotes an error type only if it is a plain name', async (t) => {
  const { far, deliver } = await startElasticsearch(t);
  far.fails = () => ({ status: 400, type: 'a payload: x' });
  assert.doesNotMatch(failed((await deliver())[0]).message, /payload/);
});

const FOREIGN: readonly (readonly [what: string, body: string])[] = [
  ['nothing', ''],
  ['no items', '{"errors":false}'],
  ['fewer items', '{"items":[]}'],
  ['items of another request', '{"items":[{"create":{"_id":"x","status":201}}]}'],
  ['items of another operation', '{"items":[{"index":{"_id":"x","status":201}}]}'],
  ['an item without a status', '{"items":[{"create":{}}]}'],
];

for (const [what, body] of FOREIGN)
  test(`a success with ${what} is not an answer, and is retried`, async (t) => {
    const { far, deliver } = await startElasticsearch(t);
    far.receiver.default = { status: 200, body };
    const failure = failed((await deliver())[0]);
    assert.deepEqual([failure.code, failure.disposition], ['BRIDGE_SINK_ANSWER', 'retry']);
  });

test('400 for the whole request is refused', async (t) => {
  const { far, deliver } = await startElasticsearch(t);
  far.receiver.default = { status: 400, body: '{"error":{"type":"x"},"status":1}' };
  assert.equal(failed((await deliver())[0]).disposition, 'refused');
});

test('a batch that is too large is halved until it fits, and nothing is lost', async (t) => {
  const { lane, far } = await onLane(t);
  far.maxBytes = 5000;
  for (let seq = 1; seq <= 16; seq++) lane.queue({ seq, partitionKey: `key-${seq}` });
  await lane.pass(SECOND);
  assert.deepEqual([far.documents.length, lane.store.accepted.length, lane.store.dead.length], [16, 16, 0]);
});

const LOGINS = [
  [{ apiKey: { env: 'KEY' } }, 'ApiKey secret'],
  [{ username: 'bridge', password: { env: 'KEY' } }, `Basic ${Buffer.from('bridge:secret').toString('base64')}`],
  [{ username: { env: 'USER' }, password: { env: 'KEY' } }, `Basic ${Buffer.from('brücke:secret').toString('base64')}`],
  [{ headers: { Authorization: { env: 'BEARER' } } }, 'Bearer token'],
] as const;

for (const [options, authorization] of LOGINS)
  test(`${Object.keys(options).join(' and ')} authenticate as ${authorization.split(' ')[0]}; a check fails if they are wrong`, async (t) => {
    const secrets = { KEY: 'secret', USER: 'brücke', BEARER: 'Bearer token' };
    const { far, deliver, adapter } = await startElasticsearch(t, { options, secrets });
    far.authorization = authorization;
    await adapter.check(never);
    assert.deepEqual([far.bulks, await deliver()], [0, ['accepted']]);
    far.authorization = 'another';
    await assert.rejects(adapter.check(never), { code: 'BRIDGE_SINK_MISCONFIGURED', status: 401 });
  });

test('a check fails if a web page rejects its request', async (t) => {
  const { far, adapter } = await startElasticsearch(t);
  far.receiver.default = { status: 400, body: '<html>' };
  await assert.rejects(adapter.check(never), { code: 'BRIDGE_SINK_REFUSED' });
});

test('a check accepts an empty list of items, the answer of services other than Elasticsearch', async (t) => {
  const { far, adapter } = await startElasticsearch(t);
  far.receiver.default = { status: 200, body: '{"took":0,"errors":false,"items":[]}' };
  assert.equal(await adapter.check(never), null);
});

test('bodies are compressed only with compression: gzip, the same at every attempt; a check never is', async (t) => {
  const plain = await startElasticsearch(t);
  const compressed = await startElasticsearch(t, { options: { compression: 'gzip' } });
  for (const { far, deliver, adapter } of [plain, compressed]) {
    await adapter.check(never);
    assert.deepEqual([await deliver({}), await deliver({})], [['accepted'], ['accepted']]);
    assert.equal(far.documents.length, 1);
  }
  const [first, second, third] = compressed.far.receiver.requests;
  assert.deepEqual(
    [first, second, third].map((request) => request?.headers['content-encoding']),
    [undefined, 'gzip', 'gzip'],
  );
  assert.deepEqual(second?.body, third?.body);
  assert.ok((second?.body.length ?? 0) < (plain.far.receiver.requests[1]?.body.length ?? 0));
  assert.equal(plain.far.receiver.requests[1]?.headers['content-encoding'], undefined);
});

test('each bulk request names the pipeline, after the query of url', async (t) => {
  const { far, deliver } = await startElasticsearch(t, { options: { pipeline: 'geo ip&x' } });
  assert.deepEqual(await deliver(), ['accepted']);
  const asking = createElasticsearch(t, { options: { url: `${far.url}/es/_bulk?routing=a%2Fb`, pipeline: 'enrich' } });
  assert.deepEqual(await asking.deliver({}), ['accepted']);
  assert.deepEqual(far.pipelines, ['geo ip&x', 'enrich']);
  assert.deepEqual(
    far.receiver.requests.map(({ path }) => path),
    ['/_bulk?pipeline=geo%20ip%26x', '/es/_bulk?routing=a%2Fb&pipeline=enrich'],
  );
});

test('a document that the pipeline drops is accepted', async (t) => {
  const { far, deliver } = await startElasticsearch(t, { options: { pipeline: 'drops' } });
  const item = {
    _index: 'logs',
    _id: null,
    _version: -3,
    result: 'noop',
    _shards: { total: 1, successful: 1, failed: 0 },
    status: 200,
  };
  far.receiver.default = { status: 200, body: JSON.stringify({ errors: false, items: [{ create: item }] }) };
  assert.deepEqual(await deliver(), ['accepted']);
});

test('a missing pipeline is misconfigured, and no event is a dead letter', async (t) => {
  const { far, deliver } = await startElasticsearch(t, { options: { pipeline: 'missing' } });
  const error = { type: 'illegal_argument_exception', reason: 'pipeline with id [missing] does not exist' };
  far.receiver.default = { status: 200, body: JSON.stringify({ items: [{ create: { status: 400, error } }] }) };
  const { disposition, message } = failed((await deliver())[0]);
  assert.equal(disposition, 'misconfigured');
  assert.match(message, /create pipeline there, or correct the name/);
});
