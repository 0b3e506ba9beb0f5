// The body of a request to the HTTP Event Collector → its events, or the code of its fault.

/** The known members of an event; Splunk ignores all others. */
export interface ReadEvent {
  readonly time?: number;
  readonly host?: string;
  readonly source?: string;
  readonly sourcetype?: string;
  readonly index?: string;
  readonly event: unknown;
  readonly fields?: Readonly<Record<string, unknown>>;
  /** The bytes of the member `event` in the body. */
  readonly eventBytes: Uint8Array;
}

interface BadEvent {
  readonly code: 5 | 6 | 12 | 13 | 15;
  readonly place: number;
}

/** Accepts the events before a bad one, as Splunk does. */
interface ReadBody {
  readonly events: readonly ReadEvent[];
  readonly bad: BadEvent | null;
}

/** Reads concatenated JSON objects, with or without blanks between them. */
export function readEvents(body: string): ReadBody {
  const events: ReadEvent[] = [];
  const bad = (code: BadEvent['code']): ReadBody => ({ events, bad: { code, place: events.length } });
  if (body.trim() === '') return bad(5);
  for (const text of objectsOf(body)) {
    const value = parsed(text);
    if (value === null) return bad(6);
    const { event, fields } = value;
    if (event === undefined) return bad(12);
    if (event === '' || event === null) return bad(13);
    if (fields !== undefined && !isFlat(fields)) return bad(15);
    events.push({ ...(value as Omit<ReadEvent, 'eventBytes'>), eventBytes: Buffer.from(memberText(text)) });
  }
  return { events, bad: null };
}

/** Splits the text after the closing brace of each object. A rest after the last one is a separate part. */
function objectsOf(body: string): readonly string[] {
  const found: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { index, 0: piece } of body.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (piece === '{' && depth++ === 0) found.push(...blankless(body.slice(start, index)));
    if (piece === '{' && depth === 1) start = index;
    if (piece === '}' && --depth === 0) {
      found.push(body.slice(start, index + 1));
      start = index + 1;
    }
  }
  return [...found, ...blankless(body.slice(start))];
}

function blankless(text: string): readonly string[] {
  return text.trim() === '' ? [] : [text];
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

function isFlat(fields: unknown): boolean {
  if (typeof fields !== 'object' || fields === null) return false;
  return Object.values(fields).every((value) => typeof value !== 'object' || Array.isArray(value));
}

/** Returns the unchanged text of the object in the member `event`. */
function memberText(text: string): string {
  const at = text.indexOf('"event":');
  return objectsOf(text.slice(at + '"event":'.length, -1))[0] ?? '';
}
