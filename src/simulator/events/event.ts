// What a user asks for → an event as the service lists it, with defaults filled in.
import { parseNotBefore } from '../../formats/dates.ts';

/** An event as documents list it (protocol 3). The last three are absent only where a recording of an older api-version lacks them. */
export interface WireEvent {
  readonly EventId: string;
  readonly EventType: string;
  readonly ResourceType: string;
  readonly Resources: readonly string[];
  readonly EventStatus: 'Scheduled' | 'Started';
  /** RFC 1123; `""` once started, and for an event that does not start by itself. */
  readonly NotBefore: string;
  readonly Description?: string;
  readonly EventSource?: string;
  readonly DurationInSeconds?: number;
}

/** Any of an event's fields, and what the document does not show. Durations in simulated milliseconds. */
export type EventFields = { readonly [Name in keyof WireEvent]?: WireEvent[Name] } & {
  /** Machines' names, compared without case; all of them where absent. */
  readonly seen?: readonly string[];
  /** NotBefore, counted from now. */
  readonly noticeMs?: number;
  /** From Started until it is no longer listed. */
  readonly startedForMs?: number;
  /** How long it stays Scheduled after its approval or its NotBefore, for other tenants of the hardware (protocol 5.2). */
  readonly otherTenantsMs?: number;
};

/**
 * By which clock NotBefore is listed: `simulated`, or `wall`, the machine's own as it is at the moment of scheduling. By `wall` a client on real time
 * sees the notice that is meant, however far the simulated clock was put forward before.
 */
export type NotBeforeClock = (typeof NOT_BEFORE_CLOCKS)[number];
export const NOT_BEFORE_CLOCKS = ['simulated', 'wall'] as const;

const MINUTE_MS = 60_000;

/** From Started until an event is no longer listed, where nothing else is asked for (protocol 5.8). */
export const STARTED_FOR_MS = 10 * MINUTE_MS;

const LEAST_NOTICE_MS: ReadonlyMap<string, number> = new Map([
  ['Redeploy', 10 * MINUTE_MS],
  ['Preempt', MINUTE_MS / 2],
  ['Terminate', 5 * MINUTE_MS],
]);
const LEAST_NOTICE_OF_OTHERS_MS = 15 * MINUTE_MS;

/** Of real events, by type and source, as far as they were shown (F-26); for all others captures have `""`, or there are none. */
const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ['Reboot Platform', 'Host server is undergoing maintenance.'],
  ['Reboot User', 'Virtual machine is going to be restarted as requested by authorized user.'],
  ['Redeploy Platform', 'Virtual machine has encountered a failure.'],
  ['Redeploy User', 'Virtual machine is going to be redeployed as requested by authorized user.'],
]);

/** The defaults (behaviour 7.5), by the clock that NotBefore is listed by. Its keys stand in the order in which the service writes them (F-98). */
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

/** Those fields that the document shows, a notice as its NotBefore. @param nowMs by the clock that NotBefore is listed by */
export function listedFields(fields: EventFields, nowMs: number): Partial<WireEvent> {
  const { seen: _, noticeMs, startedForMs: __, otherTenantsMs: ___, ...listed } = fields;
  return noticeMs === undefined ? listed : { ...listed, NotBefore: notBeforeAfter(noticeMs, nowMs) };
}

/** In whole seconds, rounded up, so that the notice is never short. */
function notBeforeAfter(noticeMs: number, nowMs: number): string {
  return rfc1123(Math.ceil((nowMs + noticeMs) / 1000) * 1000);
}

/** What was started has no NotBefore. */
export function clearStartedNotBefore(event: WireEvent): WireEvent {
  return event.EventStatus === 'Started' ? { ...event, NotBefore: '' } : event;
}

/**
 * When an event starts by itself: at its NotBefore, or so long after it for other tenants. Null where it has none, has started, or got a NotBefore that already lay in the past:
 * such a one stays Scheduled, as on shared hardware, where others still hold it up (protocol 5.2).
 * @param aheadMs how far simulated time, in which the moments are, is ahead of the clock that NotBefore is listed by
 */
export function startMoment(event: WireEvent, otherTenantsMs: number, aheadMs: number, givenAtMs: number): number | null {
  if (event.EventStatus === 'Started' || event.NotBefore === '') return null;
  const notBeforeMs = Date.parse(event.NotBefore) + aheadMs;
  // NotBefore has whole seconds: one within the running second was meant as now.
  return notBeforeMs - aheadMs >= Math.floor((givenAtMs - aheadMs) / 1000) * 1000
    ? Math.max(notBeforeMs, givenAtMs) + otherTenantsMs
    : null;
}

export function rfc1123(ms: number): string {
  return new Date(ms).toUTCString();
}

/** RFC 1123 or ISO 8601 → RFC 1123; `""` stays; null where it is no date. */
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
