// A change → its CloudEvent's attributes beyond id, source and type (behaviour 3.8).
import { sha256Hex } from '../formats/canonical-json.ts';
import type { Change, EventChange } from '../model/events.ts';

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

/** Returns the severity of a change's CloudEvent (behaviour 3.8). */
export function severityOf(change: Change): Severity {
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
export function wordOf(text: string): string | undefined {
  return text === '' || FORBIDDEN.test(text) ? undefined : text.toLowerCase();
}

/** Returns NotBefore for `scheduled` and `updated` if it is later than the change, else undefined. */
export function expiryOf(change: EventChange): string | undefined {
  const { notBefore } = change.event;
  if (notBefore === null || (change.phase !== 'scheduled' && change.phase !== 'updated')) return undefined;
  return Date.parse(notBefore) > change.at.wallMs ? notBefore : undefined;
}

/**
 * Returns the traceparent, or undefined if the EventId is not a GUID. All CloudEvents of an event have the same trace
 * id, its EventId.
 */
export function traceparentOf(eventId: string, id: string): string | undefined {
  const guid = eventId.toLowerCase();
  return GUID.test(guid) ? `00-${guid.replaceAll('-', '')}-${sha256Hex(id, 16)}-01` : undefined;
}
