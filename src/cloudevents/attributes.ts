// A change → its CloudEvent's attributes beyond id, source and type (behaviour 3.8).
import { sha256Hex } from '../formats/canonical-json.ts';
import type { Change, EventChange } from '../model/events.ts';

/** By OpenTelemetry's numbers, as the CloudEvents severity extension has them. */
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
/** What CloudEvents 1.0 forbids in a String: control characters, surrogates without a partner, noncharacters. */
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
 * Returns true if an event began without notice and nobody asked for it (behaviour 3.10). Azure may approve a user's operation by itself,
 * and a Freeze of some seconds may be approved by another VM between two polls (protocol 10.1).
 */
function isUnexpectedStart({ phase, withoutNotice, event }: EventChange): boolean {
  if (phase !== 'started' || !withoutNotice) return false;
  return event.eventSource.toLowerCase() !== 'user' && event.eventType.toLowerCase() !== FREEZE;
}

/** A word of the service in lower case; undefined where it gives none or one that no attribute may hold. */
export function wordOf(text: string): string | undefined {
  return text === '' || FORBIDDEN.test(text) ? undefined : text.toLowerCase();
}

/** NotBefore on `scheduled` and `updated`, while it lies ahead of the change. */
export function expiryOf(change: EventChange): string | undefined {
  const { notBefore } = change.event;
  if (notBefore === null || (change.phase !== 'scheduled' && change.phase !== 'updated')) return undefined;
  return Date.parse(notBefore) > change.at.wallMs ? notBefore : undefined;
}

/** Every CloudEvent of an event belongs to the same trace: its EventId, where that is a GUID. */
export function traceparentOf(eventId: string, id: string): string | undefined {
  const guid = eventId.toLowerCase();
  return GUID.test(guid) ? `00-${guid.replaceAll('-', '')}-${sha256Hex(id, 16)}-01` : undefined;
}
