// Changes → journal entries and their structured-mode bytes, read back by the CloudEvents SDK.
import assert from 'node:assert/strict';
import test from 'node:test';
import { CloudEvent, HTTP } from 'cloudevents';
import {
  encodeStructured,
  STRUCTURED_CONTENT_TYPE,
  toCloudEvent,
  toJournalEntry,
} from '../../../src/cloudevents/event.ts';
import { scheduledEvent } from '../../support/events.ts';
import { approvalChange, context, eventChange, sightChange } from './changes.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

test('a journal entry has the keys of its event, its partition key and the bytes that are sent', () => {
  const change = eventChange();
  const { bytes, ...entry } = toJournalEntry(change, context);
  assert.deepEqual(entry, {
    id: change.id,
    change: 'scheduled',
    key: change.key,
    occurrence: 1,
    partitionKey: change.key,
    timeMs: change.at.wallMs,
  });
  assert.deepEqual(JSON.parse(decoder.decode(bytes)), toCloudEvent(change, context));
});

test('the entry of a blindness has no event and is ordered by its observer', () => {
  const { bytes: _, ...entry } = toJournalEntry(sightChange(), context);
  assert.deepEqual(
    [entry.change, entry.key, entry.occurrence, entry.partitionKey],
    ['source.blind', null, null, 'westno_0'],
  );
});

test('the entry of an approval is ordered with its event, an unusual EventId by its eid', () => {
  const event = scheduledEvent({ eventId: 'Odd Id' });
  const { key, occurrence, change, partitionKey } = toJournalEntry(approvalChange({ event, occurrence: 4 }), context);
  assert.deepEqual([key, occurrence, change], ['odd id', 4, 'approval.recorded']);
  assert.match(partitionKey, /^h[0-9a-f]{32}$/);
});

test('a fraction of a millisecond is cut, in the entry as in the event', () => {
  const change = eventChange({ at: { wallMs: 1_649_714_401_234.9, elapsedMs: 0.5 } });
  assert.equal(toJournalEntry(change, context).timeMs, 1_649_714_401_234);
  assert.equal(toCloudEvent(change, context).time, '2022-04-11T22:00:01.234Z');
});

test('structured bytes are one line of UTF-8 JSON that the SDK parses as a valid CloudEvent', () => {
  const event = toCloudEvent(
    eventChange({ event: scheduledEvent({ description: 'Größe\n😀 "quoted"', notBefore: null }) }),
    context,
  );
  const body = decoder.decode(encodeStructured(event));
  assert.ok(!body.includes('\n'));
  const parsed = HTTP.toEvent({ headers: { 'content-type': STRUCTURED_CONTENT_TYPE }, body });
  assert.ok(parsed instanceof CloudEvent && parsed.validate());
  assert.deepEqual(JSON.parse(JSON.stringify(parsed)), event);
});

test('attributes that are not set are absent, and null members of data stay', () => {
  const event = toCloudEvent(
    eventChange({ event: scheduledEvent({ eventType: '', eventSource: '', notBefore: null }) }),
    context,
  );
  const read: unknown = JSON.parse(decoder.decode(encodeStructured(event)));
  assert.ok(typeof read === 'object' && read !== null && 'data' in read);
  for (const name of ['impact', 'initiator', 'expirytime', 'outcome']) assert.ok(!(name in read), name);
  assert.deepEqual(
    Object.entries(read.data ?? {})
      .filter(([, value]) => value === null)
      .map(([name]) => name),
    ['previousStatus', 'notBefore'],
  );
});
