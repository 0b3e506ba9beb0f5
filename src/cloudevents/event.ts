// A change and its observer → its CloudEvent and journal entry (behaviour 3). The recipe is frozen.
import type { CloudEventV1 } from 'cloudevents';
import { toRfc3339 } from '../formats/dates.ts';
import type { EventApproval } from '../model/approvals.ts';
import { changeName } from '../model/change-names.ts';
import { isDrill } from '../model/drills.ts';
import type { ApprovalChange, Change, EventChange, JournalEntry, Observer } from '../model/events.ts';
import { eidOf } from '../model/ids.ts';
import { expiryOf, severityOf, traceparentOf, wordOf } from './attributes.ts';
import {
  approvalChangeData,
  type CloudEventData,
  type EventData,
  eventApprovalData,
  eventData,
  sightChangeData,
} from './data.ts';
import { encodeStructured } from './structured.ts';

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
