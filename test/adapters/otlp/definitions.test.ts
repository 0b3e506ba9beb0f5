// OpenTelemetry's published definitions as a strict reader → each field of both encodings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeJson } from '../../../adapters/otlp/json-encoder.ts';
import { encodeProtobuf } from '../../../adapters/otlp/protobuf-encoder.ts';
import { resourceGroups } from '../../../adapters/otlp/resource-groups.ts';
import { readByDefinitions, withoutDefinitions } from '../../far-sides/otlp/definitions.ts';
import { recordsOf } from '../../far-sides/otlp/log-receiver.ts';
import { readJson } from '../../far-sides/otlp/read-request.ts';
import { allDeliveries } from './deliveries.ts';

const GROUPS = resourceGroups(allDeliveries());
const EXPECTED = recordsOf(readJson(encodeJson(GROUPS)));

for (const [encoding, body] of [
  ['protobuf', encodeProtobuf(GROUPS)],
  ['json', encodeJson(GROUPS)],
] as const)
  test(`the published definitions read every field of every type of CloudEvent in ${encoding}`, {
    skip: withoutDefinitions,
  }, () => {
    assert.deepEqual(recordsOf(readByDefinitions(encoding, body) as Parameters<typeof recordsOf>[0]), EXPECTED);
  });

test('the published definitions reject an unknown name and an unknown field', { skip: withoutDefinitions }, () => {
  const unknown = encodeJson(GROUPS).replace('"severityText"', '"severity"');
  assert.throws(() => readByDefinitions('json', unknown), /severity/);
  const bytes = Buffer.concat([encodeProtobuf(GROUPS), Buffer.from([0x78, 1])]);
  assert.throws(() => readByDefinitions('protobuf', bytes), /unknown fields/);
});
