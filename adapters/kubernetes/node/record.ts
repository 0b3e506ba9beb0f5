// The annotation of a node ↔ the events for which it was prepared, and the steps taken. Pure.
import { isObject } from '../../../src/formats/json-object.ts';

/** Its value records the steps to undo. */
export const ANNOTATION = 'scheduled-events-bridge.github.io/prepared';
/** The maximum number of events of one VM. The oldest is dropped, so that the size of the annotation is limited. */
const MOST_EVENTS = 32;

/** The steps that can be undone. */
export type Mark = 'condition' | 'taint' | 'cordon';

export interface PreparedEvent {
  /** The EventId in lower case. */
  readonly key: string;
  readonly type: string;
}

export interface PreparationRecord {
  /** The events that have not ended; the newest is last. */
  readonly events: readonly PreparedEvent[];
  /** The steps that changed something. */
  readonly did: readonly Mark[];
}

export const EMPTY_RECORD: PreparationRecord = { events: [], did: [] };

/** Returns null for a text in another format, because the steps are then unknown. */
export function readRecord(annotation: string | undefined): PreparationRecord | null {
  if (annotation === undefined) return EMPTY_RECORD;
  try {
    const value: unknown = JSON.parse(annotation);
    if (!isObject(value) || !Array.isArray(value['events']) || !Array.isArray(value['did'])) return null;
    const events = value['events'].filter(isObject).map(({ key, type }) => ({ key: String(key), type: String(type) }));
    return { events, did: value['did'].filter(isMark) };
  } catch {
    return null;
  }
}

export function writeRecord({ events, did }: PreparationRecord): string {
  return JSON.stringify({ events, did });
}

/** Adds an event, or replaces it. */
export function withEvent({ events, did }: PreparationRecord, event: PreparedEvent): PreparationRecord {
  const known = events.some(({ key }) => key === event.key);
  const next = known ? events.map((each) => (each.key === event.key ? event : each)) : [...events, event];
  return { events: next.slice(-MOST_EVENTS), did };
}

export function withoutEvent({ events, did }: PreparationRecord, key: string): PreparationRecord {
  return { events: events.filter((event) => event.key !== key), did };
}

export function withMark({ events, did }: PreparationRecord, mark: Mark): PreparationRecord {
  return { events, did: did.includes(mark) ? did : [...did, mark] };
}

function isMark(value: unknown): value is Mark {
  return value === 'condition' || value === 'taint' || value === 'cordon';
}
