// Changes → entries of the Windows event log: ids, levels, formats, their limit, hostile texts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import {
  EVENT_IDS,
  type EventLogFormat,
  eventLogEntry,
  MAX_ENTRY_LENGTH,
} from '../../../../adapters/windows-event-log/event-log-entry.ts';
import { toJournalEntry } from '../../../../src/cloudevents/event.ts';
import { logRecord } from '../../../../src/log-record/log-record.ts';
import { changeName } from '../../../../src/model/change-names.ts';
import type { Delivery } from '../../../../src/model/deliveries.ts';
import type { Change, EventChange, ScheduledEvent } from '../../../../src/model/events.ts';
import { sampleDelivery } from '../../../adapters/sample-deliveries.ts';
import { EVENT_ID, scheduledEvent } from '../../../support/events.ts';
import { approvalChange, context, eventChange, sightChange } from '../../cloudevents/changes.ts';
import { hostileText } from '../../log-record/samples.ts';

const PAGE = join(import.meta.dirname, '../../../../docs/operate/windows-event-log.md');

function deliveryOf(change: Change): Delivery {
  return { ...sampleDelivery(), change: changeName(change), bytes: toJournalEntry(change, context).bytes };
}

function entryOf(change: Change, format: EventLogFormat = 'text') {
  return eventLogEntry(deliveryOf(change), format);
}

function withEvent(event: Partial<ScheduledEvent>, more: Partial<EventChange> = {}): EventChange {
  return eventChange({ event: scheduledEvent(event), ...more });
}

function documentOf(change: Change): Record<string, unknown> {
  return JSON.parse(entryOf(change, 'document').text) as Record<string, unknown>;
}

const ENDED = { phase: 'ended', previousStatus: 'Started' } as const;

test('the event ids never change, because users filter by them', () => {
  assert.deepEqual(EVENT_IDS, {
    scheduled: 1000,
    updated: 1001,
    started: 1002,
    ended: 1003,
    'source.blind': 1010,
    'source.restored': 1011,
    'approval.recorded': 1020,
    'approval.submitted': 1021,
    'approval.failed': 1022,
  });
});

test('the page lists each event id with its change', () => {
  const rows = [...readFileSync(PAGE, 'utf8').matchAll(/^\| (\d{4}) \| `([a-z.]+)`/gm)];
  const listed = Object.fromEntries(rows.map(([, id, change = '']) => [change, Number(id)]));
  const { resolved, ...shown } = listed;
  assert.deepEqual(shown, EVENT_IDS);
  assert.equal(resolved, 1004, 'reserved');
});

test('an entry has the id of its change, and the level of its severity', () => {
  const cases: [Change, number, string][] = [
    [withEvent({ eventType: 'Freeze' }), 1000, 'information'],
    [withEvent({ eventType: 'Reboot' }, { phase: 'updated', changedFields: ['notBefore'] }), 1001, 'warning'],
    [withEvent({ eventType: 'Preempt', eventStatus: 'Started', notBefore: null }, { phase: 'started' }), 1002, 'error'],
    [withEvent({ eventType: 'Terminate' }, { ...ENDED, outcome: 'completed' }), 1003, 'information'],
    [sightChange({ phase: 'blind' }), 1010, 'warning'],
    [sightChange({ phase: 'restored' }), 1011, 'information'],
    [approvalChange({ phase: 'recorded' }), 1020, 'information'],
    [approvalChange({ phase: 'submitted' }), 1021, 'information'],
    [approvalChange({ phase: 'failed', reason: 'moot' }), 1022, 'warning'],
  ];
  assert.deepEqual(
    cases.map(([change]) => entryOf(change)).map(({ id, level }) => [id, level]),
    cases.map(([, id, level]) => [id, level]),
  );
});

test('a text is the sentence, an empty line, and the structured CloudEvent as it is stored', () => {
  const delivery = deliveryOf(withEvent({ eventType: 'Reboot' }));
  const [sentence, empty, json, ...more] = eventLogEntry(delivery, 'text').text.split('\r\n');
  assert.equal(sentence, logRecord(delivery.bytes).message);
  assert.equal(empty, '');
  assert.equal(json, Buffer.from(delivery.bytes).toString());
  assert.deepEqual(more, []);
});

test('a document is the event as the metadata service lists it, with id 1234', () => {
  const change = withEvent({ eventType: 'Reboot' });
  assert.equal(entryOf(change, 'document').id, 1234);
  assert.equal(entryOf(change, 'document').level, 'warning');
  assert.deepEqual(documentOf(change), {
    EventId: EVENT_ID,
    EventStatus: 'Scheduled',
    EventType: 'Reboot',
    ResourceType: 'VirtualMachine',
    Resources: ['WestNO_0', 'WestNO_1'],
    NotBefore: 'Mon, 11 Apr 2022 22:26:58 GMT',
    Description: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
  });
});

test('the status of a document is the last one of Azure, and at the end the outcome', () => {
  const started = withEvent({ eventStatus: 'Started', notBefore: null }, { phase: 'started' });
  assert.deepEqual([documentOf(started)['EventStatus'], documentOf(started)['NotBefore']], ['Started', '']);
  const statusOf = (outcome: EventChange['outcome']) => documentOf(withEvent({}, { ...ENDED, outcome }))['EventStatus'];
  assert.deepEqual((['completed', 'canceled', 'unknown'] as const).map(statusOf), ['Completed', 'Canceled', 'Unknown']);
});

test('as a document, a CloudEvent that is not about a change of an event is a text with its own id', () => {
  for (const change of [approvalChange(), sightChange()])
    assert.deepEqual(entryOf(change, 'document'), entryOf(change, 'text'));
});

/** Microsoft's query for its AzureScheduledEventsService, as published; `contains` ignores letter case. */
const QUERY = `Event
| where EventLog == "Application" and Source contains "AzureScheduledEvents" and RenderedDescription contains "Scheduled" and RenderedDescription contains "EventStatus"
| project TimeGenerated, RenderedDescription
| extend ReqJson= parse_json(RenderedDescription)
| extend EventId = ReqJson["EventId"]
,EventStatus = ReqJson["EventStatus"]
,EventType = ReqJson["EventType"]
,NotBefore = ReqJson["NotBefore"]
,ResourceType = ReqJson["ResourceType"]
,Resources = ReqJson["Resources"]
| project-away RenderedDescription,ReqJson`;

const isFound = (text: string) =>
  [...QUERY.matchAll(/RenderedDescription contains "(\w+)"/g)].every(([, word = '']) =>
    text.toLowerCase().includes(word.toLowerCase()),
  );

test("Microsoft's published query finds a document, and each of its paths has a value", () => {
  const { text } = entryOf(withEvent({ eventType: 'Reboot' }), 'document');
  assert.ok(isFound(text));
  const paths = [...QUERY.matchAll(/ReqJson\["(\w+)"\]/g)].map(([, path = '']) => path);
  assert.equal(paths.length, 6);
  const row = JSON.parse(text) as Record<string, unknown>;
  for (const path of paths) assert.ok(row[path] !== undefined && row[path] !== '', path);
  assert.ok(readFileSync(PAGE, 'utf8').includes(QUERY), 'the page has the query');
});

test("Microsoft's published query ignores approvals and the sight of a bridge", () => {
  for (const change of [approvalChange(), sightChange()]) assert.ok(!isFound(entryOf(change, 'document').text));
});

test('a long entry first loses the end of its description, and stays JSON', () => {
  for (const character of ['x', '"', '😀']) {
    const change = withEvent({ description: character.repeat(40_000) });
    const { text } = entryOf(change);
    assert.ok(text.length <= MAX_ENTRY_LENGTH && text.length > MAX_ENTRY_LENGTH - 10, `${text.length}`);
    const { data } = JSON.parse(text.slice(text.indexOf('\r\n\r\n')));
    assert.match(data.description, /…$/);
    assert.deepEqual(data.resources, ['WestNO_0', 'WestNO_1']);
    assert.match(String(documentOf(change)['Description']), /…$/);
    assert.ok(entryOf(change, 'document').text.length <= MAX_ENTRY_LENGTH);
    assert.ok(text.isWellFormed());
  }
});

test('if a short description is not enough, the list of machines is cut and counts the rest', () => {
  const resources = Array.from({ length: 3000 }, (_, index) => `a-long-name-of-a-machine_${index}`);
  const change = withEvent({ resources, description: 'why' });
  const { text } = entryOf(change);
  assert.ok(text.length <= MAX_ENTRY_LENGTH && text.length > MAX_ENTRY_LENGTH - 100, `${text.length}`);
  const { data } = JSON.parse(text.slice(text.indexOf('\r\n\r\n')));
  assert.deepEqual(data.resources.slice(0, 2), resources.slice(0, 2));
  assert.equal(data.resources.at(-1), `… and ${3000 - (data.resources.length - 1)} more`);
  assert.match(String((documentOf(change)['Resources'] as string[]).at(-1)), /^… and \d+ more$/);
});

test('if nothing else is left to shorten, the end is cut', () => {
  const { text } = entryOf(withEvent({ eventType: 'x'.repeat(40_000) }));
  assert.equal(text.length, MAX_ENTRY_LENGTH);
  assert.match(text, /…$/);
});

test('no text of an event is a control character or a placeholder of Windows, and the JSON has the same value', () => {
  const hostile = fc.oneof(hostileText, fc.constantFrom('%1', '100%%1 sure', 'a%9', '\ufffe\uffff', '%\u00001'));
  fc.assert(
    fc.property(hostile, fc.array(hostile), (description, resources) => {
      const change = withEvent({ description, resources });
      const { text } = entryOf(change);
      assert.doesNotMatch(text.replaceAll('\r\n', ''), /[\p{Cc}\ufffe\uffff]|%[\d%]/u);
      const json = text.slice(text.indexOf('\r\n\r\n'));
      assert.deepEqual(JSON.parse(json), JSON.parse(Buffer.from(deliveryOf(change).bytes).toString()));
      const document = entryOf(change, 'document').text;
      assert.doesNotMatch(document, /[\p{Cc}\ufffe\uffff]|%[\d%]/u);
      assert.equal(JSON.parse(document)['Description'], description);
    }),
  );
});
