// Structured-mode bytes → the JSON batch format and its id, member by member.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import { type CloudEvent, HTTP } from 'cloudevents';
import fc from 'fast-check';
import { BATCH_CONTENT_TYPE, batchId, encodeBatch, framingBytes } from '../../../src/cloudevents/batch.ts';
import { toJournalEntry } from '../../../src/cloudevents/event.ts';
import { approvalChange, context, eventChange, sightChange } from './changes.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const entries = [eventChange(), approvalChange(), sightChange()].map((change) => toJournalEntry(change, context));

test('a batch is a JSON array with the bytes of each member unchanged (JS-9, H-13)', () => {
  const text = Buffer.from(encodeBatch(entries.map(({ bytes }) => bytes))).toString();
  assert.equal(text, `[${entries.map(({ bytes }) => Buffer.from(bytes).toString()).join(',')}]`);
});

test('the CloudEvents SDK reads every member of a batch by its media type (JS-9, H-2)', () => {
  assert.equal(BATCH_CONTENT_TYPE, 'application/cloudevents-batch+json');
  const body = Buffer.from(encodeBatch(entries.map(({ bytes }) => bytes))).toString();
  const events = HTTP.toEvent({ headers: { 'content-type': BATCH_CONTENT_TYPE }, body }) as CloudEvent<unknown>[];
  assert.deepEqual(
    events.map(({ id, specversion }) => [id, specversion]),
    entries.map(({ id }) => [id, '1.0']),
  );
  for (const event of events) assert.ok(event.validate());
});

test('no members give an empty array, and one member an array of one (JS-9)', () => {
  assert.equal(Buffer.from(encodeBatch([])).toString(), '[]');
  assert.equal(Buffer.from(encodeBatch([bytesOf('{"a":1}')])).toString(), '[{"a":1}]');
});

test('for any JSON members: the batch has them in order, and framingBytes counts its brackets and commas', () => {
  fc.assert(
    fc.property(fc.array(fc.json()), (texts) => {
      const members = texts.map(bytesOf);
      const batch = encodeBatch(members);
      assert.deepEqual(
        JSON.parse(Buffer.from(batch).toString()),
        texts.map((text) => JSON.parse(text)),
      );
      assert.equal(
        batch.byteLength,
        members.reduce((sum, { byteLength }) => sum + byteLength, framingBytes(members.length)),
      );
    }),
  );
});

test('the id of a batch depends only on its ids and their order', () => {
  const expected = createHash('sha256').update('a:scheduled\nb:ended').digest('hex').slice(0, 32);
  assert.equal(batchId(['a:scheduled', 'b:ended']), `batch:${expected}`);
  assert.notEqual(batchId(['b:ended', 'a:scheduled']), batchId(['a:scheduled', 'b:ended']));
  assert.notEqual(batchId(['a:scheduled']), batchId(['a:scheduled', 'b:ended']));
  assert.match(batchId(['one']), /^batch:[0-9a-f]{32}$/);
});
