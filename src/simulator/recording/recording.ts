// The header and lines of a recording as types, for recorder and replay.
import type { WireEvent } from '../events/event.ts';

/** The version of the format, in the header. */
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
 * A valid document: it has all fields of the oldest api-version, each field has the right type, and EventIds differ even ignoring case. Unknown fields
 * are kept. Any other body is an unexpected answer.
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
