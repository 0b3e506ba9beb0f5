// The fields that a user gives → an event as the service lists it, with defaults.
import { parseNotBefore } from '../../formats/dates.ts';

/** An event as documents list it (protocol 3). The last three are absent only in recordings of older api-versions. */
export interface WireEvent {
  readonly EventId: string;
  readonly EventType: string;
  readonly ResourceType: string;
  readonly Resources: readonly string[];
  readonly EventStatus: 'Scheduled' | 'Started';
  /** RFC 1123; `""` for a Started event, and for one that does not start by itself. */
  readonly NotBefore: string;
  readonly Description?: string;
  readonly EventSource?: string;
  readonly DurationInSeconds?: number;
}

/** Any fields of an event, and settings that the document does not show. Durations are simulated milliseconds. */
export type EventFields = { readonly [Name in keyof WireEvent]?: WireEvent[Name] } & {
  /** Names of the machines that see the event, compared ignoring case. Default: all machines. */
  readonly seen?: readonly string[];
  /** The time from now until NotBefore. */
  readonly noticeMs?: number;
  /** The time from Started until the event is no longer listed. */
  readonly startedForMs?: number;
  /**
   * How long the event stays Scheduled after its approval or its NotBefore, waiting for other tenants of the hardware
   * (protocol 5.2).
   */
  readonly otherTenantsMs?: number;
};

/**
 * The clock in which NotBefore is listed: `simulated`, or `wall`, this machine's clock at the moment of scheduling.
 * With `wall` a client that uses real time sees the intended notice, however far the simulated clock was advanced
 * before.
 */
export type NotBeforeClock = (typeof NOT_BEFORE_CLOCKS)[number];
export const NOT_BEFORE_CLOCKS = ['simulated', 'wall'] as const;

const MINUTE_MS = 60_000;

/** The default time from Started until an event is no longer listed (protocol 5.8). */
export const STARTED_FOR_MS = 10 * MINUTE_MS;

const LEAST_NOTICE_MS: ReadonlyMap<string, number> = new Map([
  ['Redeploy', 10 * MINUTE_MS],
  ['Preempt', MINUTE_MS / 2],
  ['Terminate', 5 * MINUTE_MS],
]);
const LEAST_NOTICE_OF_OTHERS_MS = 15 * MINUTE_MS;

/** The descriptions of real events, by type and source, if captures show one (F-26); all others have `""`. */
const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ['Reboot Platform', 'Host server is undergoing maintenance.'],
  ['Reboot User', 'Virtual machine is going to be restarted as requested by authorized user.'],
  ['Redeploy Platform', 'Virtual machine has encountered a failure.'],
  ['Redeploy User', 'Virtual machine is going to be redeployed as requested by authorized user.'],
]);

/**
 * Creates an event with the defaults of behaviour 7.5. Its keys are in the service's order (F-98).
 * @param nowMs in the clock in which NotBefore is listed
 */
export function newEvent(eventId: string, fields: EventFields, vms: readonly string[], nowMs: number): WireEvent {
  const given = listedFields(fields, nowMs);
  const { EventType: type = 'Freeze', EventSource: source = 'Platform' } = given;
  const event: WireEvent = {
    EventId: eventId,
    EventStatus: 'Scheduled',
    EventType: type,
    ResourceType: 'VirtualMachine',
    Resources: vms,
    NotBefore: notBeforeAfter(LEAST_NOTICE_MS.get(type) ?? LEAST_NOTICE_OF_OTHERS_MS, nowMs),
    Description: DESCRIPTIONS.get(`${type} ${source}`) ?? '',
    EventSource: source,
    DurationInSeconds: -1,
  };
  return clearStartedNotBefore({ ...event, ...given, EventId: eventId });
}

/**
 * Returns the fields that the document shows, and the notice as NotBefore.
 * @param nowMs in the clock in which NotBefore is listed
 */
export function listedFields(fields: EventFields, nowMs: number): Partial<WireEvent> {
  const { seen: _, noticeMs, startedForMs: __, otherTenantsMs: ___, ...listed } = fields;
  return noticeMs === undefined ? listed : { ...listed, NotBefore: notBeforeAfter(noticeMs, nowMs) };
}

/** Rounds up to whole seconds, so that the notice is never too short. */
function notBeforeAfter(noticeMs: number, nowMs: number): string {
  return rfc1123(Math.ceil((nowMs + noticeMs) / 1000) * 1000);
}

/** Empties the NotBefore of a Started event. */
export function clearStartedNotBefore(event: WireEvent): WireEvent {
  return event.EventStatus === 'Started' ? { ...event, NotBefore: '' } : event;
}

/**
 * Returns the simulated time at which an event starts by itself: its NotBefore plus the wait for other tenants. Returns
 * null if it has started, has no NotBefore, or its NotBefore was already past when it was set: then it stays Scheduled,
 * as on shared hardware (protocol 5.2).
 * @param aheadMs how far simulated time is ahead of the clock in which NotBefore is listed
 * @param givenAtMs the simulated time at which NotBefore was set
 */
export function startMoment(
  event: WireEvent,
  otherTenantsMs: number,
  aheadMs: number,
  givenAtMs: number,
): number | null {
  if (event.EventStatus === 'Started' || event.NotBefore === '') return null;
  const notBeforeMs = Date.parse(event.NotBefore) + aheadMs;
  // NotBefore has whole seconds: one within the current second means now.
  return notBeforeMs - aheadMs >= Math.floor((givenAtMs - aheadMs) / 1000) * 1000
    ? Math.max(notBeforeMs, givenAtMs) + otherTenantsMs
    : null;
}

export function rfc1123(ms: number): string {
  return new Date(ms).toUTCString();
}

/** Converts RFC 1123 or ISO 8601 to RFC 1123. Returns `""` unchanged, and null for a text that is not a date. */
export function readNotBefore(text: string): string | null {
  if (text === '') return '';
  const rfc3339 = parseNotBefore(text);
  return rfc3339 === null ? null : rfc1123(Date.parse(rfc3339));
}

/** Returns a GUID of version 4 in upper case, as the service writes EventIds. @param random at least 0, below 1 */
export function guid(random: () => number): string {
  const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16));
  digits[12] = 4;
  digits[16] = 8 + ((digits[16] ?? 0) % 4);
  const hex = digits
    .map((digit) => digit.toString(16))
    .join('')
    .toUpperCase();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
