// A verified binary-mode delivery → refused if unsigned headers contradict the signed parts.

import { isObject, type JsonObject } from '../../formats/json-object.ts';
import { CHANGE_NAMES, type ChangeName } from '../../model/change-names.ts';
import { ConsumerError } from '../consumer-error.ts';
import { type CloudEvent, changeOf } from '../event.ts';
import { notAnEvent } from '../read-event.ts';

/**
 * The word after the EventId in an id of a bridge; ids of `source.*` begin with it (docs/receive/cloudevents.md, `id`).
 */
const WORDS = CHANGE_NAMES.map((name) => name.replace('.', '-'));
const ID = new RegExp(`^(?:[0-9a-z_-]{1,64}:)?(${WORDS.join('|')})(?::[0-9a-z]+)*$`);

/**
 * Checks a delivery that someone may have copied and sent again with other headers. The id must be the signed one, and
 * the type must be the change that the id names. The body must not be an event of another mode. No attribute of a
 * bridge's event may contradict its data.
 * @throws ConsumerError `unauthorized` for another id, `not-a-cloudevent` for the other checks
 */
export function expectSigned(event: CloudEvent, body: Uint8Array, webhookId: string, typePrefix: string): void {
  if (event.id !== webhookId)
    throw new ConsumerError(
      'unauthorized',
      'the delivery is not verified: ce-id is not the webhook-id that was signed',
    );
  const named = changeNamedBy(webhookId);
  const isOurs = changeOf(event, typePrefix) !== null;
  if (named === null ? isOurs : !endsAs(event.type, named))
    throw notAnEvent('its type is not the change that its signed id names');
  // The data of other types is not known.
  const attribute = isOurs && named !== null ? contradictingAttribute(event, named) : null;
  if (attribute !== null) throw notAnEvent(`its attribute ${attribute} contradicts its data, which is signed`);
  // The data of the bridge's types is never an event, and was checked before.
  if (!isOurs && holdsEvents(body, webhookId))
    throw notAnEvent('its body is of another mode: a CloudEvent, or a batch');
}

function changeNamedBy(id: string): ChangeName | null {
  const word = ID.exec(id)?.[1];
  return CHANGE_NAMES.find((_, index) => WORDS[index] === word) ?? null;
}

/** Ignores the prefix, because a receiver may not know the bridge's. */
function endsAs(type: string, change: ChangeName): boolean {
  return type.replace(/\.v\d+$/, '').endsWith(`.${change}`);
}

/** Ignores the Content-Type, which is not signed. */
function holdsEvents(body: Uint8Array, id: string): boolean {
  const content = jsonOf(body);
  if (Array.isArray(content)) return content.length > 0 && content.every(isEvent);
  return isEvent(content) && content['id'] === id;
}

function isEvent(value: unknown): value is Record<string, unknown> {
  return isObject(value) && 'specversion' in value;
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString()) as unknown;
  } catch {
    return null;
  }
}

/** The value that an attribute must have if it is present; null if it must be absent. */
type Expected = Readonly<Record<string, unknown>>;

/**
 * Returns the name of an attribute that contradicts `id` or `data`, or null. Not compared are `source`, `time`,
 * `severitynumber`, `severitytext`, `dataschema`, `traceparent`, and for approvals `impact` and `initiator`, because
 * `id` and `data` do not have them. An absent attribute contradicts nothing.
 * @param change the change that the signed id names
 */
function contradictingAttribute(event: CloudEvent, change: ChangeName): string | null {
  const { data } = event;
  if (!isObject(data)) return null;
  const expected = { ...identityOf(event.id, change), ...(isLifeChange(change) && contentOf(data, change)) };
  return (
    Object.entries(expected).find(([name, value]) => event[name] !== undefined && event[name] !== value)?.[0] ?? null
  );
}

function isLifeChange(change: ChangeName): boolean {
  return !change.startsWith('approval.') && !change.startsWith('source.');
}

/**
 * Reads the event's id, with which an id of the bridge begins, except for `source.*` (docs/receive/cloudevents.md,
 * `id`).
 */
function identityOf(id: string, change: ChangeName): Expected {
  if (change.startsWith('source.')) return { subject: 'scheduledevents', correlationid: null };
  const eid = id.slice(0, id.indexOf(':'));
  return { subject: `scheduledevents/${eid}`, partitionkey: eid, correlationid: eid };
}

function contentOf({ eventType, eventSource, notBefore, outcome }: JsonObject, change: ChangeName): Expected {
  const isAhead = change === 'scheduled' || change === 'updated';
  return {
    impact: String(eventType).toLowerCase(),
    initiator: String(eventSource).toLowerCase(),
    expirytime: isAhead ? notBefore : null,
    outcome: outcome ?? null,
  };
}
