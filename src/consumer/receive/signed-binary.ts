// A verified binary-mode delivery → refused where unsigned headers contradict the signed parts.

import { isObject, type JsonObject } from '../../formats/json-object.ts';
import { CHANGE_NAMES, type ChangeName } from '../../model/change-names.ts';
import { ConsumerError } from '../consumer-error.ts';
import { type CloudEvent, changeOf } from '../event.ts';
import { notAnEvent } from '../read-event.ts';

/** What follows the EventId in an id of a bridge; `source.*` have none before it (docs/receive/cloudevents.md, `id`). */
const WORDS = CHANGE_NAMES.map((name) => name.replace('.', '-'));
const ID = new RegExp(`^(?:[0-9a-z_-]{1,64}:)?(${WORDS.join('|')})(?::[0-9a-z]+)*$`);

/**
 * Whoever saw one delivery may send it again with other headers: so the id must be the signed one, the type the change that the id names, the
 * body no event of another mode, and no attribute of a bridge's event may contradict its data.
 * @throws ConsumerError `unauthorized` for another id, `not-a-cloudevent` for all else
 */
export function expectSigned(event: CloudEvent, body: Uint8Array, webhookId: string, typePrefix: string): void {
  if (event.id !== webhookId)
    throw new ConsumerError('unauthorized', 'the delivery is not verified: ce-id is not the webhook-id that was signed');
  const named = changeNamedBy(webhookId);
  const isOurs = changeOf(event, typePrefix) !== null;
  if (named === null ? isOurs : !endsAs(event.type, named)) throw notAnEvent('its type is not the change that its signed id names');
  // Of other types nothing is known of their data.
  const attribute = isOurs && named !== null ? contradictingAttribute(event, named) : null;
  if (attribute !== null) throw notAnEvent(`its attribute ${attribute} contradicts its data, which is signed`);
  // What a type of ours promises of its data, no event has.
  if (!isOurs && holdsEvents(body, webhookId)) throw notAnEvent('its body is of another mode: a CloudEvent, or a batch of them');
}

function changeNamedBy(id: string): ChangeName | null {
  const word = ID.exec(id)?.[1];
  return CHANGE_NAMES.find((_, index) => WORDS[index] === word) ?? null;
}

/** Under any prefix: a receiver may not know the bridge's. */
function endsAs(type: string, change: ChangeName): boolean {
  return type.replace(/\.v\d+$/, '').endsWith(`.${change}`);
}

/** Whatever its Content-Type says, which is not signed. */
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

/** What an attribute has to be, if it is there; null: it must not be there. */
type Expected = Readonly<Record<string, unknown>>;

/**
 * Returns the name of an attribute that contradicts `id` or `data`, or null. Attributes of which these say nothing are not looked at: `source`,
 * `time`, `severitynumber`, `severitytext`, `dataschema`, `traceparent`, and of approvals `impact` and `initiator`. An attribute that is not
 * there contradicts nothing. `change` is the one that the signed id names.
 */
function contradictingAttribute(event: CloudEvent, change: ChangeName): string | null {
  const { data } = event;
  if (!isObject(data)) return null;
  const expected = { ...identityOf(event.id, change), ...(isLifeChange(change) && contentOf(data, change)) };
  return Object.entries(expected).find(([name, value]) => event[name] !== undefined && event[name] !== value)?.[0] ?? null;
}

function isLifeChange(change: ChangeName): boolean {
  return !change.startsWith('approval.') && !change.startsWith('source.');
}

/** An id of the bridge begins with the event's, but for `source.*` (docs/receive/cloudevents.md, `id`). */
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
