// A recording's header and lines as types, for recorder and replay.
import type { WireEvent } from '../events/event.ts';

/** The format's version, which the header names. */
export const RECORDING_VERSION = 1;

/** Bytes: recording ends before it, and no larger file is replayed. */
export const LARGEST_RECORDING = 64 * 1024 * 1024;

/** The first line of a recording. */
export interface RecordingHeader {
  readonly recording: typeof RECORDING_VERSION;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly anonymised: boolean;
  /** Of the lines that name none. */
  readonly apiVersion?: string;
}

/** Any other line: when and at whom it was seen, and what. */
export interface RecordingLine {
  /** RFC 3339 with milliseconds. Never falls. */
  readonly at: string;
  /** The machine that was asked; absent where that is not known, as with `--upstream`. */
  readonly vm?: string;
  /** As the client asked for it. */
  readonly apiVersion?: string;
  /** As it was received. */
  readonly document?: RecordedDocument;
  /** After an odd answer: the last document of this machine and api-version is answered again. */
  readonly unchanged?: true;
  /** The first of a run of equal answers to a GET that are no document. */
  readonly answer?: RecordedAnswer;
  readonly post?: RecordedPost;
}

/**
 * All fields of the oldest api-version are there, those that are there have the right types, EventIds are distinct without case, and fields
 * that are not known here are kept. A body that is not so is an odd answer.
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
  /** Its first characters (LONGEST_BODY); absent where it was left out by `--anonymise`. */
  readonly body?: string;
  /** The connection ended after this body, though more was announced. */
  readonly cut?: true;
  /** The connection was reset before an answer. */
  readonly reset?: true;
  /** The status is the recorder's own, because upstream gave no answer, and this is why: a system's code, or `timeout`. */
  readonly unreachable?: string;
}

export interface RecordedPost {
  /** As they were sent; null where the body held none. */
  readonly StartRequests: readonly unknown[] | null;
  /** Null where the connection was reset. */
  readonly status: number | null;
  readonly unreachable?: string;
}

/** Characters of an odd answer's body that are kept. */
export const LONGEST_BODY = 16 * 1024;
