// Records → the bytes of a request, read by the published field numbers, and the same as in JSON.
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { encodeJson } from '../../../../adapters/otlp/json-encoder.ts';
import { encodeProtobuf } from '../../../../adapters/otlp/protobuf-encoder.ts';
import { resourceGroups } from '../../../../adapters/otlp/resource-groups.ts';
import { otelRecord } from '../../../../src/log-record/otel.ts';
import { allDeliveries } from '../../../adapters/otlp/deliveries.ts';
import { readJson, readProtobuf } from '../../../far-sides/otlp/read-request.ts';
import { hostileRecord } from '../../log-record/samples.ts';

test('both encodings of every type of CloudEvent have the same content, and only defined members', () => {
  for (const delivery of allDeliveries()) {
    const groups = resourceGroups([delivery]);
    assert.deepEqual(readProtobuf(Buffer.from(encodeProtobuf(groups))), readJson(encodeJson(groups)));
  }
});

test('hostile texts are the same in both encodings', () => {
  fc.assert(
    fc.property(hostileRecord, (log) => {
      const record = otelRecord(log);
      const groups = [{ resource: record.resource, records: [record] }];
      assert.deepEqual(readProtobuf(Buffer.from(encodeProtobuf(groups))), readJson(encodeJson(groups)));
    }),
  );
});

test('numbers of each type are the same in both encodings', () => {
  const [first] = resourceGroups(allDeliveries());
  const [record] = first?.records ?? [];
  assert.ok(record);
  const attributes = new Map(
    Object.entries({
      zero: 0,
      less: -1,
      large: Number.MAX_SAFE_INTEGER,
      larger: 2 ** 60,
      part: 0.5,
      yes: true,
      no: false,
      none: [],
    }),
  );
  const groups = [{ resource: {}, records: [{ ...record, attributes }] }];
  const read = readProtobuf(Buffer.from(encodeProtobuf(groups)));
  const json = JSON.stringify(readJson(encodeJson(groups)));
  assert.equal(JSON.stringify(read).includes('"intValue":"9007199254740991"'), true);
  for (const part of ['"intValue":"-1"', '"doubleValue":1152921504606847000', '"doubleValue":0.5', '"boolValue":false'])
    assert.ok(json.includes(part) && JSON.stringify(read).includes(part), part);
});

test('a lone surrogate is U+FFFD in both encodings', () => {
  const [first] = resourceGroups(allDeliveries());
  const [record] = first?.records ?? [];
  assert.ok(record);
  const groups = [{ resource: { 'host.name': '\ud800' }, records: [{ ...record, body: 'a\udfffb' }] }];
  const read = readProtobuf(Buffer.from(encodeProtobuf(groups)));
  assert.deepEqual(read, readJson(encodeJson(groups)));
  assert.ok(JSON.stringify(read).includes('a\ufffdb'));
});
