// A change and its observer → its CloudEvent, bytes and journal entry (behaviour 3). Frozen recipe.
import type { CloudEventV1 } from 'cloudevents';
import { sha256Hex } from '../formats/canonical-json.ts';
import { toRfc3339 } from '../formats/dates.ts';
import type { EventApproval } from '../model/approvals.ts';
import { changeName } from '../model/change-names.ts';
import type { ApprovalChange, Change, EventChange, JournalEntry, Observer } from '../model/events.ts';
import { eidOf, isDrill } from '../model/ids.ts';
import {
  approvalChangeData,
  type CloudEventData,
  type EventData,
  eventApprovalData,
  eventData,
  sightChangeData,
} from './data.ts';

const SCHEMAS = 'https://scheduled-events-bridge.github.io/schemas';

/** The facts in a CloudEvent beyond its change. */
export interface EventContext {
  /** The `source` attribute. */
  readonly source: string;
  /** `cloudevents.typePrefix`. */
  readonly typePrefix: string;
  readonly observer: Observer;
  readonly approval: (key: string, occurrence: number) => EventApproval | null;
}

/** `docs/schemas/NAME.v1.json` describes the `data` of each kind. */
const SCHEMA_NAMES = { event: 'change', approval: 'approval', sight: 'source' } as const satisfies Record<
  Change['kind'],
  string
>;

/** The media type of `encodeStructured`'s bytes. */
export const STRUCTURED_CONTENT_TYPE = 'application/cloudevents+json';

const encoder = new TextEncoder();

/** OpenTelemetry's severity numbers, as in the CloudEvents severity extension. */
interface Severity {
  readonly severitynumber: number;
  readonly severitytext: string;
}

const INFO: Severity = { severitynumber: 9, severitytext: 'INFO' };
const WARN: Severity = { severitynumber: 13, severitytext: 'WARN' };
const ERROR: Severity = { severitynumber: 17, severitytext: 'ERROR' };

const FREEZE = 'freeze';

const SEVERITY_OF_IMPACT = new Map([
  [FREEZE, INFO],
  ['preempt', ERROR],
  ['terminate', ERROR],
]);

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** CloudEvents 1.0 forbids these in a String: control characters, lone surrogates, noncharacters. */
export const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u;

/** Returns the CloudEvent of a change, without the attributes that are not set. Valid by CloudEvents 1.0. */
export function toCloudEvent(change: Change, context: EventContext): CloudEventV1<CloudEventData> {
  return {
    specversion: '1.0',
    id: change.id,
    source: context.source,
    type: `${context.typePrefix}.${changeName(change)}.v1`,
    subject: change.kind === 'sight' ? 'scheduledevents' : `scheduledevents/${eidOf(change.key)}`,
    time: toRfc3339(change.at.wallMs),
    datacontenttype: 'application/json',
    dataschema: `${SCHEMAS}/${SCHEMA_NAMES[change.kind]}.v1.json`,
    partitionkey: partitionKeyOf(change, context.observer),
    ...(change.kind !== 'sight' && eventAttributes(change)),
    ...(change.kind !== 'sight' && isDrill(change.key) && { drill: true }),
    ...severityOf(change),
    ...(change.kind !== 'sight' &&
      set({ traceparent: traceparentOf(change.kind === 'event' ? change.event.eventId : change.eventId, change.id) })),
    data: dataOf(change, context),
  };
}

/** Returns the entry for the journal. Called once for each change. Every attempt at every sink sends these bytes. */
export function toJournalEntry(change: Change, context: EventContext): JournalEntry {
  return {
    id: change.id,
    change: changeName(change),
    key: change.kind === 'sight' ? null : change.key,
    occurrence: change.kind === 'sight' ? null : change.occurrence,
    partitionKey: partitionKeyOf(change, context.observer),
    timeMs: Math.trunc(change.at.wallMs),
    bytes: encodeStructured(toCloudEvent(change, context)),
  };
}

/** Returns the key that deliveries are ordered by: the event, or for `source.*` the observer. */
function partitionKeyOf(change: Change, observer: Observer): string {
  return change.kind === 'sight' ? observer.id : eidOf(change.key);
}

function eventAttributes(change: EventChange | ApprovalChange) {
  return set({
    correlationid: eidOf(change.key),
    impact: change.event === null ? undefined : wordOf(change.event.eventType),
    initiator: change.event === null ? undefined : wordOf(change.event.eventSource),
    ...(change.kind === 'event' && { outcome: change.outcome ?? undefined, expirytime: expiryOf(change) }),
  });
}

function dataOf(change: Change, context: EventContext): CloudEventData {
  if (change.kind === 'event') return eventChangeData(change, context);
  return change.kind === 'approval'
    ? approvalChangeData(change, context.observer)
    : sightChangeData(change, context.observer);
}

function eventChangeData(change: EventChange, { observer, approval }: EventContext): EventData {
  const { phase, previousStatus, incarnation, changedFields, outcome } = change;
  return eventData(change.event, {
    previousStatus,
    incarnation,
    observer,
    ...(phase === 'updated' && { changedFields }),
    ...(outcome !== null && { outcome }),
    ...(phase === 'started' && { approval: eventApprovalData(approval(change.key, change.occurrence)) }),
  });
}

/** Leaves out the members that are undefined, because an unset attribute is absent. */
function set(attributes: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(attributes).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Returns the severity of a change's CloudEvent (behaviour 3.8). */
function severityOf(change: Change): Severity {
  if (change.kind === 'sight') return change.phase === 'blind' ? WARN : INFO;
  if (change.kind === 'approval') return change.phase === 'failed' ? WARN : INFO;
  if (change.phase === 'ended') return INFO;
  if (isUnexpectedStart(change)) return ERROR;
  return SEVERITY_OF_IMPACT.get(change.event.eventType.toLowerCase()) ?? WARN;
}

/**
 * Returns true if an event started without notice and was not expected (behaviour 3.10). Azure may approve a user's
 * operation by itself, and another VM may approve a Freeze of some seconds between two polls (protocol 10.1).
 */
function isUnexpectedStart({ phase, withoutNotice, event }: EventChange): boolean {
  if (phase !== 'started' || !withoutNotice) return false;
  return event.eventSource.toLowerCase() !== 'user' && event.eventType.toLowerCase() !== FREEZE;
}

/** Returns a word of the service in lower case, or undefined if it is empty or not allowed in an attribute. */
function wordOf(text: string): string | undefined {
  return text === '' || FORBIDDEN.test(text) ? undefined : text.toLowerCase();
}

/** Returns NotBefore for `scheduled` and `updated` if it is later than the change, else undefined. */
function expiryOf(change: EventChange): string | undefined {
  const { notBefore } = change.event;
  if (notBefore === null || (change.phase !== 'scheduled' && change.phase !== 'updated')) return undefined;
  return Date.parse(notBefore) > change.at.wallMs ? notBefore : undefined;
}

/**
 * Returns the traceparent, or undefined if the EventId is not a GUID. All CloudEvents of an event have the same trace
 * id, its EventId.
 */
function traceparentOf(eventId: string, id: string): string | undefined {
  const guid = eventId.toLowerCase();
  return GUID.test(guid) ? `00-${guid.replaceAll('-', '')}-${sha256Hex(id, 16)}-01` : undefined;
}

/**
 * Returns UTF-8 JSON in one line without a line end: attributes and extensions at the top level, data embedded as JSON,
 * members that are not set left out.
 */
export function encodeStructured(event: CloudEventV1<CloudEventData>): Uint8Array {
  return encoder.encode(JSON.stringify(event));
}
