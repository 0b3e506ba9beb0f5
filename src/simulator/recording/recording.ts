// A JSON value → a header, line or document of a recording, or schema issues; their types.
import * as v from 'valibot';
import { parseInstant } from '../../formats/dates.ts';
import type { WireEvent } from '../events/event.ts';

export const RECORDING_VERSION = 1;

/** The largest file in bytes: recording stops before it, and a replay rejects larger files. */
export const LARGEST_RECORDING = 64 * 1024 * 1024;

/** The first line of a recording. */
export interface RecordingHeader {
  readonly recording: typeof RECORDING_VERSION;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly anonymised: boolean;
  /** For lines without one. */
  readonly apiVersion?: string;
}

/** Any other line: the time, the machine, and one of `document`, `unchanged`, `answer` and `post`. */
export interface RecordingLine {
  /** RFC 3339 with milliseconds; never earlier than the line before. */
  readonly at: string;
  /** The machine that answered; absent if unknown, as with `--upstream`. */
  readonly vm?: string;
  /** As the client sent it. */
  readonly apiVersion?: string;
  /** As received. */
  readonly document?: RecordedDocument;
  /** The first good answer after unexpected ones, if it is the last document of this machine and api-version again. */
  readonly unchanged?: true;
  /** The first of a run of equal answers to a GET that are not documents. */
  readonly answer?: RecordedAnswer;
  readonly post?: RecordedPost;
}

/**
 * A valid document: it has all fields of the oldest api-version, each field has the right type, and EventIds differ
 * even ignoring case. Unknown fields are kept. Any other body is an unexpected answer.
 */
export interface RecordedDocument {
  readonly DocumentIncarnation: number;
  readonly Events: readonly WireEvent[];
}

export interface RecordedAnswer {
  /** Absent with `reset`. */
  readonly status?: number;
  readonly contentType?: string;
  readonly retryAfter?: string;
  /** The first LONGEST_BODY characters; absent if `--anonymise` removed it. */
  readonly body?: string;
  /** The connection closed after this part of the body. */
  readonly cut?: true;
  /** The connection was reset before an answer. */
  readonly reset?: true;
  /** Why upstream did not answer, such as `ECONNREFUSED` or `timeout`; the status is then the recorder's own. */
  readonly unreachable?: string;
}

export interface RecordedPost {
  /** As sent; null if the body has none. */
  readonly StartRequests: readonly unknown[] | null;
  /** Null if the connection was reset. */
  readonly status: number | null;
  readonly unreachable?: string;
}

/** Characters kept of the body of an unexpected answer. */
export const LONGEST_BODY = 16 * 1024;

/** RFC 3339 → milliseconds since 1970. */
export const recordingInstant = v.pipe(
  v.string(),
  v.check((text) => parseInstant(text) !== null, 'must be a time such as 2026-11-21T14:00:00.000Z'),
  v.transform((text) => parseInstant(text) as number),
);

export const recordingHeader = v.object({
  recording: v.literal(RECORDING_VERSION, `must be ${RECORDING_VERSION}: another release wrote this file`),
  startedAt: recordingInstant,
  anonymised: v.optional(v.boolean(), false),
  apiVersion: v.exactOptional(v.string()),
});

const eventShape = v.looseObject({
  EventId: v.pipe(v.string(), v.nonEmpty()),
  EventType: v.string(),
  ResourceType: v.string(),
  Resources: v.array(v.string()),
  EventStatus: v.picklist(['Scheduled', 'Started']),
  NotBefore: v.string(),
  // Absent in older api-versions.
  Description: v.exactOptional(v.string()),
  EventSource: v.exactOptional(v.string()),
  DurationInSeconds: v.exactOptional(v.number()),
});

/** Returns the event itself. A schema's copy would have known keys first, but a replay keeps the recorded order. */
const recordedEvent = v.lazy((event) =>
  v.pipe(
    eventShape,
    v.transform(() => event as v.InferOutput<typeof eventShape>),
  ),
);

export const recordedDocument = v.looseObject({
  DocumentIncarnation: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  Events: v.pipe(
    v.array(recordedEvent),
    v.check(
      (events) => new Set(events.map((event) => event.EventId.toLowerCase())).size === events.length,
      'lists an EventId twice',
    ),
  ),
});

const recordedAnswer = v.pipe(
  v.object({
    // Every final status that an HTTP parser accepts.
    status: v.exactOptional(v.pipe(v.number(), v.safeInteger(), v.minValue(200), v.maxValue(999))),
    contentType: v.exactOptional(v.string()),
    retryAfter: v.exactOptional(v.string()),
    body: v.exactOptional(v.string()),
    cut: v.exactOptional(v.literal(true)),
    reset: v.exactOptional(v.literal(true)),
  }),
  v.check(({ status, reset }) => (status === undefined) === (reset === true), 'must have either status or reset'),
);

/** The content of a line that can be played. */
export type LineContent =
  | { readonly kind: 'document'; readonly document: RecordedDocument }
  | { readonly kind: 'answer'; readonly answer: RecordedAnswer }
  | { readonly kind: 'unchanged' | 'post' };

interface LineOutput {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly vm?: string;
  readonly apiVersion?: string;
  readonly content: LineContent;
}

const context = { at: recordingInstant, vm: v.exactOptional(v.string()), apiVersion: v.exactOptional(v.string()) };

/** The schema of each kind of line, by the key that identifies the kind. */
export const RECORDING_LINES: ReadonlyMap<string, v.GenericSchema<unknown, LineOutput>> = new Map<
  string,
  v.GenericSchema<unknown, LineOutput>
>([
  [
    'document',
    v.pipe(
      v.object({ ...context, document: recordedDocument }),
      v.transform(({ document, ...rest }) => ({ ...rest, content: { kind: 'document' as const, document } })),
    ),
  ],
  [
    'answer',
    v.pipe(
      v.object({ ...context, answer: recordedAnswer }),
      v.transform(({ answer, ...rest }) => ({ ...rest, content: { kind: 'answer' as const, answer } })),
    ),
  ],
  [
    'unchanged',
    v.pipe(
      v.object({ ...context, unchanged: v.literal(true) }),
      v.transform(({ unchanged: _, ...rest }) => ({ ...rest, content: { kind: 'unchanged' as const } })),
    ),
  ],
  [
    'post',
    v.pipe(
      v.object({ ...context, post: v.object({}) }),
      v.transform(({ post: _, ...rest }) => ({ ...rest, content: { kind: 'post' as const } })),
    ),
  ],
]);
