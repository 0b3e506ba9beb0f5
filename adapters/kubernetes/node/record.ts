// The annotation of a node ↔ the events it was prepared for, and what was done. Pure.
import { isObject } from '../../../src/formats/json-object.ts';

/** Whose value says what has to be taken back. */
export const ANNOTATION = 'scheduled-events-bridge.github.io/prepared';
/** Events of one VM at once; the oldest is forgotten, so that the annotation has a bound. */
const MOST_EVENTS = 32;

/** What can be taken back. */
export type Mark = 'condition' | 'taint' | 'cordon';

export interface PreparedEvent {
  /** EventId in lower case. */
  readonly key: string;
  readonly type: string;
}

export interface PreparationRecord {
  /** That have not ended; the newest last. */
  readonly events: readonly PreparedEvent[];
  /** What was not there before. */
  readonly did: readonly Mark[];
}

export const NOTHING: PreparationRecord = { events: [], did: [] };

/** Null of a text that this program did not write: then it is not known what it did. */
export function readRecord(annotation: string | undefined): PreparationRecord | null {
  if (annotation === undefined) return NOTHING;
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

/** The event is prepared for, whether or not it was before. */
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
