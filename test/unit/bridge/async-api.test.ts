// The configuration in force → its document, made once for each configuration.
import assert from 'node:assert/strict';
import test from 'node:test';
import { asyncApiOf } from '../../../src/bridge/async-api.ts';
import type { Config } from '../../../src/config/config.ts';
import { configWith } from '../../support/asyncapi-document.ts';

const withTopic = (topic: string) => configWith({ sinks: { stream: { type: 'kafka', brokers: ['one:9092'], topic } } });

test('a reload changes the document, and requests between reloads share it', async () => {
  let config: Config = withTopic('before');
  const document = asyncApiOf(() => config);
  const first = await document();
  assert.ok(Buffer.from(first).includes('"address":"before"'));
  assert.equal(await document(), first);
  config = withTopic('after');
  assert.ok(Buffer.from(await document()).includes('"address":"after"'));
});
