// An event → its content and hash; EventIds, phases → ids (behaviour 3.3, 3.5). Frozen recipes.
import { canonicalJson, sha256Hex } from '../formats/canonical-json.ts';
import type { ApprovalPhase, EventStatus, Phase, ScheduledEvent, SightChange } from './events.ts';

/**
 * Nine fields of an event and nothing else. Two events are equal for every VM if these fields are. The recipe is
 * frozen.
 */
interface EventContent {
  readonly Description: string;
  readonly DurationInSeconds: number;
  /** In lower case. */
  readonly EventId: string;
  readonly EventSource: string;
  readonly EventStatus: EventStatus;
  readonly EventType: string;
  /** RFC 3339 UTC in whole seconds, or null. */
  readonly NotBefore: string | null;
  readonly ResourceType: string;
  /** Distinct, sorted by UTF-16 code units. */
  readonly Resources: readonly string[];
}

export function contentOf(event: ScheduledEvent): EventContent {
  return {
    Description: event.description,
    DurationInSeconds: event.durationInSeconds,
    EventId: event.eventId.toLowerCase(),
    EventSource: event.eventSource,
    EventStatus: event.eventStatus,
    EventType: event.eventType,
    NotBefore: event.notBefore,
    ResourceType: event.resourceType,
    Resources: sortedResources(event),
  };
}

/** Returns the names of an event, distinct and sorted by UTF-16 code units. */
export function sortedResources(event: Pick<ScheduledEvent, 'resources'>): readonly string[] {
  // Without a comparison function, sort compares UTF-16 code units.
  return [...new Set(event.resources)].sort();
}

/** Returns the content as canonical JSON (RFC 8785). */
export function contentJson(event: ScheduledEvent): string {
  return canonicalJson(contentOf(event));
}

/** Returns the `h16` of an event: the first 16 hex digits of the SHA-256 of its content (behaviour 3.5). */
export function contentHash16(event: ScheduledEvent): string {
  return sha256Hex(contentJson(event), 16);
}

/** Returns true if the event's Resources name the VM; letter case does not count. */
export function affects(event: Pick<ScheduledEvent, 'resources'>, vmName: string): boolean {
  const wanted = vmName.toLowerCase();
  return event.resources.some((name) => name.toLowerCase() === wanted);
}

const DRILL_EVENT_ID = /^drill-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const PLAIN_EVENT_ID = /^[0-9a-z_-]{1,64}$/;

/**
 * Returns the EventId, which is also the key, of a drill.
 * @param id a GUID in lower case
 */
export function drillEventId(id: string): string {
  return `drill-${id}`;
}

/**
 * Returns true for the EventId of a drill, in any letter case. The metadata service uses GUIDs, and never gets one of
 * these.
 */
export function isDrill(eventId: string): boolean {
  return DRILL_EVENT_ID.test(eventId.toLowerCase());
}

/**
 * Returns the `eid` of an EventId in lower case: the EventId if it is short and plain, else `h` and 32 hex digits of
 * its hash (behaviour 3.5).
 */
export function eidOf(key: string): string {
  return PLAIN_EVENT_ID.test(key) ? key : `h${sha256Hex(key, 32)}`;
}

/**
 * Returns the id of a change of an event, before `unusedId`. It has no clock, VM name, incarnation or array order in
 * it, so every VM makes the same.
 */
export function eventChangeId(phase: Phase, event: ScheduledEvent): string {
  const eid = eidOf(event.eventId.toLowerCase());
  return phase === 'updated' ? `${eid}:updated:${contentHash16(event)}` : `${eid}:${phase}`;
}

/** Returns true if a bridge may give this id to an update of this event, at any occurrence. */
export function isUpdateId(id: string, key: string): boolean {
  const base = `${eidOf(key)}:updated:`;
  return id.startsWith(base) && /^[0-9a-f]{16}(?::r[1-9]\d*)?$/.test(id.slice(base.length));
}

/**
 * Returns the id of an approval's CloudEvent at this bridge, before `unusedId`.
 * @param approver null if several approved or a policy decided
 */
export function approvalChangeId(
  phase: ApprovalPhase,
  key: string,
  approver: string | null,
  observerId: string,
): string {
  const hash = sha256Hex(canonicalJson({ approver: approver ?? '', observer: observerId }), 16);
  return `${eidOf(key)}:approval-${phase}:${hash}`;
}

/**
 * Returns the id of `source.blind` or `source.restored` of this bridge, before `unusedId`.
 * @param since as in the CloudEvent's data
 */
export function sightChangeId(phase: SightChange['phase'], observerId: string, since: string): string {
  return `source-${phase}:${sha256Hex(canonicalJson({ observer: observerId, since }), 16)}`;
}

/**
 * Names a rule by its content: the same for two rules that say the same, whatever the order of their lists. 16 hex
 * digits.
 */
export function ruleId(rule: object): string {
  return sha256Hex(canonicalJson(inOrder(rule)), 16);
}

function inOrder(value: object): object {
  if (Array.isArray(value)) return value.toSorted();
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, typeof part === 'object' && part !== null ? inOrder(part) : part]),
  );
}

/**
 * So many numbers are tried one by one. After that the step doubles, so that an id that was used very often needs few
 * look-ups.
 */
const ONE_BY_ONE = 16;

/**
 * Returns `base`, or `base` with the first unused suffix of `:r2`, `:r3` ….
 * @param isUsed returns true also for the ids given earlier in the same batch
 */
export function unusedId(base: string, isUsed: (id: string) => boolean): string {
  const idOf = (repeat: number) => (repeat === 1 ? base : `${base}:r${repeat}`);
  let unused = 1;
  while (isUsed(idOf(unused))) unused += unused < ONE_BY_ONE ? 1 : unused;
  let used = unused <= ONE_BY_ONE ? unused - 1 : unused / 2;
  while (unused - used > 1) {
    const middle = Math.floor((used + unused) / 2);
    if (isUsed(idOf(middle))) used = middle;
    else unused = middle;
  }
  return idOf(unused);
}
