// A delivery → the entry for the Windows event log: event id, level and text.
import { type JsonObject, objectOf, stringOf } from '../../src/formats/json-object.ts';
import { shortenedText, visible } from '../../src/formats/visible-text.ts';
import { type LogSeverity, logRecord } from '../../src/log-record/log-record.ts';
import type { ChangeName } from '../../src/model/change-names.ts';
import type { Delivery } from '../../src/model/deliveries.ts';

export const EVENT_LOG_FORMATS = ['text', 'document'] as const;

export type EventLogFormat = (typeof EVENT_LOG_FORMATS)[number];

export interface EventLogEntry {
  readonly id: number;
  readonly level: (typeof LEVELS)[LogSeverity];
  readonly text: string;
}

/** Users filter by these ids, so they never change. 1004 is reserved for `resolved`. */
export const EVENT_IDS: Readonly<Record<ChangeName, number>> = {
  scheduled: 1000,
  updated: 1001,
  started: 1002,
  ended: 1003,
  'source.blind': 1010,
  'source.restored': 1011,
  'approval.recorded': 1020,
  'approval.submitted': 1021,
  'approval.failed': 1022,
};

/** The id of a document: that of Microsoft's AzureScheduledEventsService. */
export const DOCUMENT_ID = 1234;

/** In UTF-16 units: the limit of Windows for a string of `ReportEvent`. */
export const MAX_ENTRY_LENGTH = 31_839;

const LEVELS = { INFO: 'information', WARN: 'warning', ERROR: 'error' } as const;

const STATUS_OF_OUTCOME: Readonly<Record<string, string>> = { completed: 'Completed', canceled: 'Canceled' };

/**
 * @throws SyntaxError or TypeError if the bytes are not a CloudEvent of the bridge; the store never has such bytes
 */
export function eventLogEntry({ bytes, change }: Delivery, format: EventLogFormat): EventLogEntry {
  const event = JSON.parse(Buffer.from(bytes).toString()) as JsonObject;
  const id = EVENT_IDS[change as ChangeName];
  if (id === undefined) throw new TypeError('this change has no event id');
  // The metadata service has no such object for an approval or for the sight of a bridge.
  const isDocument = format === 'document' && !change.includes('.');
  return {
    id: isDocument ? DOCUMENT_ID : id,
    level: LEVELS[logRecord(bytes).severity],
    text: fitting(event, isDocument ? documentOf : textOf),
  };
}

/** Returns the sentence, an empty line, and the structured CloudEvent. */
function textOf(event: JsonObject): string {
  const { message } = logRecord(Buffer.from(JSON.stringify(event)));
  return `${inertSentence(message)}\r\n\r\n${inertJson(event)}`;
}

/** Returns the event as the metadata service lists it, with the names and the date format of its documents. */
function documentOf(event: JsonObject): string {
  const data = objectOf(event['data']);
  const notBefore = stringOf(data['notBefore']);
  return inertJson({
    EventId: data['eventId'],
    EventStatus: statusOf(data),
    EventType: data['eventType'],
    ResourceType: data['resourceType'],
    Resources: data['resources'],
    NotBefore: notBefore && new Date(notBefore).toUTCString(),
    Description: data['description'],
  });
}

function statusOf({ eventStatus, outcome }: JsonObject): unknown {
  return eventStatus === 'Ended' ? (STATUS_OF_OUTCOME[stringOf(outcome)] ?? 'Unknown') : eventStatus;
}

/** Windows replaces `%1` and `%%1`, and XML cannot contain U+FFFE and U+FFFF. */
const ACTIVE = /%(?=[\d%])|[\ufffe\uffff]/g;

/** Returns JSON with the same value, in which Windows replaces nothing. It has no control characters. */
function inertJson(value: JsonObject): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return visible(JSON.stringify(value)).replace(ACTIVE, escaped);
}

function inertSentence(sentence: string): string {
  return sentence.replace(ACTIVE, (character) => (character === '%' ? '% ' : ' '));
}

/**
 * Returns the text of the event. If it is too long, shortens the description; if that is not enough, the list of
 * machines; if even that is not enough, cuts the end.
 */
function fitting(event: JsonObject, make: (event: JsonObject) => string): string {
  const whole = make(event);
  if (whole.length <= MAX_ENTRY_LENGTH) return whole;
  const data = objectOf(event['data']);
  const description = stringOf(data['description']);
  const resources = Array.isArray(data['resources']) ? (data['resources'] as readonly unknown[]) : [];
  const withData = (changed: JsonObject) => make({ ...event, data: { ...data, ...changed } });
  const withDescription = (most: number) => withData({ description: shortenedText(description, Math.max(1, most)) });
  const withResources = (count: number) =>
    withData({ description: '…', resources: [...resources.slice(0, count), `… and ${resources.length - count} more`] });
  return (
    longest(description.length, withDescription) ??
    longest(resources.length - 1, withResources) ??
    shortenedText(withResources(0), MAX_ENTRY_LENGTH)
  );
}

/** Returns `make(n)` of the largest n up to `most` with a text that fits, or null if even `make(0)` is too long. */
function longest(most: number, make: (n: number) => string): string | null {
  let found: string | null = null;
  let [low, high] = [0, most];
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const text = make(middle);
    if (text.length <= MAX_ENTRY_LENGTH) [found, low] = [text, middle + 1];
    else high = middle - 1;
  }
  return found;
}
