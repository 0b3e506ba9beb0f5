// The real Fluent Bit as an HTTP Event Collector → each event once, compressed or not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FluentBit, withoutFluentBit } from '../../far-sides/fluent-bit/fluent-bit.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { startSplunk } from './start-splunk.ts';

const never = new AbortController().signal;

for (const compression of ['none', 'gzip'] as const)
  test(`Fluent Bit stores each event once with compression: ${compression}, and a check passes`, {
    skip: withoutFluentBit,
  }, async (t) => {
    const far = await FluentBit.start(t);
    const { adapter } = await startSplunk(t, { options: { url: `http://${far.address('splunk')}`, compression } });
    assert.equal(await adapter.check(never), null);
    const batch = Array.from({ length: 25 }, (_, index) => sampleDelivery({ seq: index + 1, mark: '|=\\" 💥' }));
    assert.ok((await adapter.deliver(batch, never)).every((outcome) => outcome === 'accepted'));
    const records = await far.readWhenThere('splunk', batch.length);
    assert.deepEqual(
      records.map(({ event }) => event),
      batch.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString())),
    );
  });
