// The real OpenSearch → documents read back by search: each once, despite repeats and a restart.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sampleEvents } from '../../../adapters/webhook/template/template-samples.ts';
import { toEcs } from '../../../src/log-record/ecs.ts';
import { logRecord } from '../../../src/log-record/log-record.ts';
import type { Delivery } from '../../../src/model/deliveries.ts';
import { noOpenSearch, OpenSearch } from '../../far-sides/opensearch/opensearch.ts';
import { SECOND } from '../../virtual/lane-fixture.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { adapterLane } from '../adapter-lane.ts';
import { failed } from '../contract.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createElasticsearch } from './start-elasticsearch.ts';

const never = new AbortController().signal;
const TEMPLATE = join(import.meta.dirname, '../../../deploy/elasticsearch/index-template.json');
const STREAM = 'logs-azure.scheduledevents-default';

/** For each type, one CloudEvent with all members and one with as few as allowed, each with a different id. */
const maintenance: readonly Delivery[] = sampleEvents().map(({ event }, index) => ({
  ...sampleDelivery({ seq: index + 1, partitionKey: `key-${index}` }),
  bytes: Buffer.from(JSON.stringify({ ...event, id: `sample:${index}` })),
}));

describe('on OpenSearch', { skip: noOpenSearch() }, () => {
  let node: OpenSearch;
  before(async () => {
    node = await OpenSearch.start();
    await node.ask('PUT', '/_index_template/scheduled-events', JSON.parse(readFileSync(TEMPLATE, 'utf8')));
  });
  after(async () => await node[Symbol.asyncDispose]());

  test('every change becomes one document of the data stream, found by each field, despite repeats', async (t) => {
    const { adapter } = createElasticsearch(t, { options: { url: node.url } });
    await adapter.check(never);
    for (let attempt = 0; attempt < 2; attempt++)
      assert.deepEqual(
        await adapter.deliver(maintenance, never),
        maintenance.map(() => 'accepted'),
      );
    const records = maintenance.map(({ bytes }) => logRecord(bytes));
    const found = await node.search(STREAM, { match_all: {} });
    const byId = new Map(found.map(({ _source }) => [(_source['event'] as { id: string }).id, _source]));
    assert.deepEqual([found.length, byId.size], [records.length, records.length]);
    for (const record of records) assert.deepEqual(byId.get(String(record.attributes['id'])), toEcs(record));
    const [{ data } = assert.fail('no sample')] = records.filter(
      (record) => typeof record.data['eventId'] === 'string',
    );
    const ofEvent = await node.search(STREAM, { term: { 'scheduled_events.eventId': data['eventId'] } });
    assert.equal(ofEvent.length, records.filter((record) => record.data['eventId'] === data['eventId']).length);
    assert.ok((await node.search(STREAM, { match: { message: 'freeze' } })).length > 0);
  });

  test('format: json, in an index without a template, stores the CloudEvent with @timestamp; hostile texts come back unchanged', async (t) => {
    const { adapter } = createElasticsearch(t, { options: { url: node.url, index: 'plain', format: 'json' } });
    const texts = ['"}\n{"create":{}}', '|=\\', 'a\nb\0c', '\u202eabc', '💥\u2028', 'x'.repeat(64 * 1024)];
    const batch = texts.map((mark, index) => sampleDelivery({ seq: index + 1, mark }));
    assert.ok((await adapter.deliver(batch, never)).every((outcome) => outcome === 'accepted'));
    const events = batch.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()));
    const found = new Map(
      (await node.search('plain', { match_all: {} })).map(({ _source }) => [_source['id'], _source]),
    );
    for (const event of events) assert.deepEqual(found.get(event.id), { '@timestamp': event.time, ...event });
  });

  test('with compression and a pipeline, the pipeline’s result is stored; a dropped document is accepted, a failed one is retried', async (t) => {
    const processors = [
      { set: { field: 'data.team', value: 'platform' } },
      { drop: { if: "ctx.data.description.contains('drop me')" } },
      { fail: { if: "ctx.data.description.contains('fail me')", message: 'a reason that nobody may show' } },
    ];
    await node.ask('PUT', '/_ingest/pipeline/enrich', { processors });
    const options = { url: node.url, index: 'piped', format: 'json', compression: 'gzip', pipeline: 'enrich' };
    const { adapter } = createElasticsearch(t, { options });
    assert.equal(await adapter.check(never), null);
    const batch = ['plain', 'drop me', 'fail me'].map((mark, index) => sampleDelivery({ seq: index + 1, mark }));
    for (let attempt = 0; attempt < 2; attempt++) {
      const [plain, dropped, failing] = await adapter.deliver(batch, never);
      assert.deepEqual([plain, dropped, failed(failing).disposition], ['accepted', 'accepted', 'retry']);
      assert.match(failed(failing).message, /answered 500 for a document \(fail_processor_exception\)/);
      assert.doesNotMatch(failed(failing).message, /nobody may show/);
    }
    const found = await node.search('piped', { match_all: {} });
    assert.deepEqual(
      found.map(({ _source }) => (_source['data'] as { team: string }).team),
      ['platform'],
    );
  });

  test('a missing pipeline is misconfigured; after it is created, the event is stored', async (t) => {
    const { deliver } = createElasticsearch(t, {
      options: { url: node.url, index: 'awaiting', format: 'json', pipeline: 'late' },
    });
    const failure = failed((await deliver())[0]);
    assert.deepEqual([failure.disposition, failure.status], ['misconfigured', 400]);
    assert.match(failure.message, /create pipeline there, or correct the name$/);
    await node.ask('PUT', '/_ingest/pipeline/late', { processors: [] });
    assert.deepEqual(await deliver(), ['accepted']);
  });

  test('only the document that the mapping rejects is refused, and a missing index is misconfigured', async (t) => {
    await node.ask('PUT', '/strict', {
      mappings: { properties: { data: { properties: { description: { type: 'long' } } } } },
    });
    const strict = createElasticsearch(t, { options: { url: node.url, index: 'strict', format: 'json' } });
    const good = sampleDelivery({ seq: 2 });
    const bytes = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(good.bytes).toString()), data: {} }));
    const [refused, accepted] = await strict.adapter.deliver([sampleDelivery({ seq: 1 }), { ...good, bytes }], never);
    const { disposition, status, isNamed, message } = failed(refused);
    assert.deepEqual([disposition, status, isNamed, accepted], ['refused', 400, true, 'accepted']);
    assert.match(message, /\(mapper_parsing_exception\)/);
    assert.doesNotMatch(message, /Wartung/);
    await node.ask('PUT', '/_cluster/settings', { persistent: { 'action.auto_create_index': 'false' } });
    const missing = createElasticsearch(t, { options: { url: node.url, index: 'missing' } });
    assert.equal(failed((await missing.deliver())[0]).disposition, 'misconfigured');
    await node.ask('POST', '/strict/_close');
    assert.equal(failed((await strict.deliver())[0]).disposition, 'misconfigured');
    await node.ask('PUT', '/_cluster/settings', { persistent: { 'action.auto_create_index': null } });
  });

  test('deliveries that are queued while the node is killed and restarted are stored once', async (t) => {
    const time = new VirtualTime();
    const { adapter, deps } = createElasticsearch(t, {
      options: { url: node.url, index: 'restarted', format: 'json' },
      time,
    });
    const lane = adapterLane({ adapter, deps, time, atEnd: (close) => t.after(close) });
    lane.queue({ partitionKey: 'a' });
    await lane.pass(0);
    await node.kill();
    for (const partitionKey of ['b', 'c', 'd']) lane.queue({ partitionKey });
    await lane.pass(10 * SECOND);
    assert.equal(lane.store.accepted.length, 1);
    await node.launch();
    for (let attempt = 0; attempt < 20 && lane.store.accepted.length < 4; attempt++) await lane.pass(10 * SECOND);
    assert.deepEqual([lane.store.accepted.length, (await node.search('restarted', { match_all: {} })).length], [4, 4]);
  });
});
