// The real Fluent Bit as a bulk end → each event there once, as the document that was sent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toEcs } from '../../../src/log-record/ecs.ts';
import { logRecord } from '../../../src/log-record/log-record.ts';
import { FluentBit, withoutFluentBit } from '../../far-sides/fluent-bit/fluent-bit.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { createElasticsearch } from './start-elasticsearch.ts';

const never = new AbortController().signal;

for (const compression of ['none', 'gzip'] as const)
  test(`Fluent Bit stores each document once with compression: ${compression}, and a check passes`, {
    skip: withoutFluentBit,
  }, async (t) => {
    const far = await FluentBit.start(t);
    const { adapter } = createElasticsearch(t, {
      options: { url: `http://${far.address('elasticsearch')}`, compression },
    });
    assert.match((await adapter.check(never)) ?? '', /answered 400 to a bulk request without documents/);
    const batch = Array.from({ length: 25 }, (_, index) =>
      sampleDelivery({ seq: index + 1, mark: `|=\\" 💥 ${index}` }),
    );
    assert.ok((await adapter.deliver(batch, never)).every((outcome) => outcome === 'accepted'));
    const records = await far.readWhenThere('elasticsearch', batch.length);
    assert.deepEqual(
      records.map(({ '@meta': _, ...document }) => document),
      batch.map(({ bytes }) => toEcs(logRecord(bytes))),
    );
  });
