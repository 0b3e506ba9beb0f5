// A bridge's event of which id and data are signed → its first attribute that says something else.
import { isObject, type JsonObject } from '../../formats/json-object.ts';
import type { ChangeName } from '../../model/change-names.ts';
import type { CloudEvent } from '../event.ts';

/** What an attribute has to be, if it is there; null: it must not be there. */
type Expected = Readonly<Record<string, unknown>>;

/**
 * Returns the name of an attribute that contradicts `id` or `data`, or null. Attributes of which these say nothing are not looked at: `source`,
 * `time`, `severitynumber`, `severitytext`, `dataschema`, `traceparent`, and of approvals `impact` and `initiator`. An attribute that is not
 * there contradicts nothing. `change` is the one that the signed id names.
 */
export function contradictingAttribute(event: CloudEvent, change: ChangeName): string | null {
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
