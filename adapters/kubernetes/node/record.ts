// The annotation of a node ↔ the events for which it was prepared, and the steps taken. Pure.
import { isObject, objectOf, stringOf } from '../../../src/formats/json-object.ts';

/** Its value records the steps to undo. */
export const ANNOTATION = 'scheduled-events-bridge.github.io/prepared';
/** The maximum number of events of one VM. The oldest is dropped, so that the size of the annotation is limited. */
const MOST_EVENTS = 32;

/** The steps that can be undone. */
export const MARKS = ['condition', 'taint', 'cordon', 'loadBalancers'] as const;
export type Mark = (typeof MARKS)[number];

export interface PreparedEvent {
  /** The EventId in lower case. */
  readonly key: string;
  readonly type: string;
}

/** A condition that the sink sets. */
export interface ClaimedCondition {
  readonly type: string;
  /** The state to restore, or null if there was none. */
  readonly before: { readonly status: string; readonly reason: string; readonly message: string } | null;
}

export interface PreparationRecord {
  /** The events that have not ended; the newest is last. */
  readonly events: readonly PreparedEvent[];
  /** The steps that changed something. */
  readonly did: readonly Mark[];
  /** Only with the mark `condition`. */
  readonly conditions: readonly ClaimedCondition[];
}

/** The type of condition that a sink sets by default, and all that earlier releases set. */
export const CONDITION = 'ScheduledEvent';
const DEFAULT_CONDITIONS: readonly ClaimedCondition[] = [{ type: CONDITION, before: null }];
export const EMPTY_RECORD: PreparationRecord = { events: [], did: [], conditions: [] };

/** Returns null for a text in another format, because the steps are then unknown. */
export function readRecord(annotation: string | undefined): PreparationRecord | null {
  if (annotation === undefined) return EMPTY_RECORD;
  try {
    const value: unknown = JSON.parse(annotation);
    if (!isObject(value) || !Array.isArray(value['events']) || !Array.isArray(value['did'])) return null;
    const events = value['events'].filter(isObject).map(({ key, type }) => ({ key: textOf(key), type: textOf(type) }));
    const did = value['did'].filter(isMark);
    return { events, did, conditions: did.includes('condition') ? conditionsIn(value['conditions']) : [] };
  } catch {
    return null;
  }
}

export function writeRecord({ events, did, conditions }: PreparationRecord): string {
  const isUsual = conditions.length === 0 || JSON.stringify(conditions) === JSON.stringify(DEFAULT_CONDITIONS);
  return JSON.stringify({ events, did, ...(!isUsual && { conditions }) });
}

/** Adds an event, or replaces it. */
export function withEvent({ events, ...rest }: PreparationRecord, event: PreparedEvent): PreparationRecord {
  const known = events.some(({ key }) => key === event.key);
  const next = known ? events.map((each) => (each.key === event.key ? event : each)) : [...events, event];
  return { ...rest, events: next.slice(-MOST_EVENTS) };
}

export function withoutEvent({ events, ...rest }: PreparationRecord, key: string): PreparationRecord {
  return { ...rest, events: events.filter((event) => event.key !== key) };
}

export function withMark({ did, ...rest }: PreparationRecord, mark: Mark): PreparationRecord {
  return { ...rest, did: did.includes(mark) ? did : [...did, mark] };
}

function isMark(value: unknown): value is Mark {
  return MARKS.some((mark) => mark === value);
}

function conditionsIn(value: unknown): readonly ClaimedCondition[] {
  if (!Array.isArray(value)) return DEFAULT_CONDITIONS;
  return value.filter(isObject).map(({ type, before }) => {
    const { status, reason, message } = objectOf(before);
    const state = { status: stringOf(status), reason: stringOf(reason), message: stringOf(message) };
    return { type: textOf(type), before: isObject(before) ? state : null };
  });
}

/** Other programs may write the annotation: an object may have a toString that is no function. */
function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
