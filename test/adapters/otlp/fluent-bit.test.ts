// The real Fluent Bit as an OpenTelemetry receiver → each record once, in either encoding.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logRecord } from '../../../src/log-record/log-record.ts';
import { FluentBit, withoutFluentBit } from '../../far-sides/fluent-bit/fluent-bit.ts';
import { sampleDelivery } from '../sample-deliveries.ts';
import { startOtlp } from './start-otlp.ts';

const never = new AbortController().signal;

for (const [encoding, compression] of [
  ['protobuf', 'gzip'],
  ['json', 'gzip'],
  ['protobuf', 'none'],
] as const)
  test(`Fluent Bit stores each record once, as ${encoding} with compression: ${compression}, and a check passes`, {
    skip: withoutFluentBit,
  }, async (t) => {
    const far = await FluentBit.start(t);
    const { adapter } = await startOtlp(t, {
      options: { url: `http://${far.address('otlp')}/v1/logs`, encoding, compression },
    });
    const found = 'answered 400 to a request without log records; only a first record shows if it accepts any';
    assert.equal(await adapter.check(never), found);
    const batch = Array.from({ length: 25 }, (_, index) =>
      sampleDelivery({ seq: index + 1, mark: `|=\\" 💥 ${index}` }),
    );
    assert.ok((await adapter.deliver(batch, never)).every((outcome) => outcome === 'accepted'));
    const records = await far.readWhenThere('otlp', batch.length);
    assert.deepEqual(
      records.map(({ log }) => log),
      batch.map(({ bytes }) => logRecord(bytes).message),
    );
  });
