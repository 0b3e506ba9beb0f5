// The file of a recording or capture → its lines with their times, or faults by line.
import { createReadStream } from 'node:fs';
import * as v from 'valibot';
import { BridgeError, messageOf } from '../../errors.ts';
import { type Fault, faultOf, formatFault, type Path } from '../../schema/faults.ts';
import { isMapping } from '../../schema/validate.ts';
import {
  LARGEST_RECORDING,
  type LineContent,
  RECORDING_LINES,
  recordedDocument,
  recordingHeader,
  recordingInstant,
} from './recording.ts';

/** A line of a recording, ready to play. */
export interface ReadLine {
  /** Milliseconds since the start of the recording. */
  readonly afterMs: number;
  readonly vm: string | null;
  readonly apiVersion: string | null;
  readonly content: LineContent;
}

export interface ReadRecording {
  /** Milliseconds since 1970; null for a capture without times. */
  readonly startedAtMs: number | null;
  readonly anonymised: boolean;
  readonly lines: readonly ReadLine[];
  /** Whether the last line is incomplete, and omitted. */
  readonly isCut: boolean;
}

/** The assumed interval between documents without times: clients poll once a second. */
const POLL_MS = 1000;

/** The most faults that an error lists. */
const MOST_FAULTS = 20;

/** Reads a recording. @throws BridgeError BRIDGE_SIMULATOR_RECORDING if the file cannot be read or has faults */
export async function readRecording(path: string): Promise<ReadRecording> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > LARGEST_RECORDING) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw cannotPlay(path, messageOf(cause), cause);
  }
  if (size > LARGEST_RECORDING) throw cannotPlay(path, `it is larger than ${LARGEST_RECORDING} bytes`);
  const read = parseRecording(Buffer.concat(chunks).toString());
  if (!('faults' in read)) return read;
  const shown = read.faults.slice(0, MOST_FAULTS).map(formatFault);
  const more = read.faults.length - shown.length;
  throw cannotPlay(path, [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; '));
}

/** Parses a recording or capture; ignores blank lines. */
export function parseRecording(text: string): ReadRecording | { readonly faults: readonly Fault[] } {
  const reader = new Reader();
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  let isCut = false;
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const value = parseJson(line);
    // A machine that loses power while it writes leaves an incomplete last line.
    if (value === undefined && index > 0 && index === lines.length - 1) isCut = true;
    else reader.take(value, index + 1);
  }
  return reader.end(isCut);
}

class Reader {
  readonly #faults: Fault[] = [];
  readonly #lines: ReadLine[] = [];
  /** From the header. */
  #apiVersion: string | null = null;
  #anonymised = false;
  #isEmpty = true;
  /** From the header, or else from the first line with a time. */
  #startedAtMs: number | null = null;
  /** Milliseconds since the start. */
  #lastMs = 0;

  /** Reads a line. @param value undefined if the line is not JSON */
  take(value: unknown, number: number): void {
    const isFirst = this.#isEmpty;
    this.#isEmpty = false;
    const kinds = isMapping(value) ? [...RECORDING_LINES.keys()].filter((kind) => kind in value) : [];
    if (!isMapping(value)) this.#fault(number, value === undefined ? 'is not JSON' : 'is not a JSON object');
    else if ('recording' in value) this.#takeHeader(value, number, isFirst);
    else if ('DocumentIncarnation' in value) this.#takeBare(value, number);
    else if (kinds.length === 1) this.#takeLine(kinds[0] ?? '', value, number);
    else this.#fault(number, `must have one of ${[...RECORDING_LINES.keys()].join(', ')}`);
  }

  end(isCut: boolean): ReadRecording | { readonly faults: readonly Fault[] } {
    if (this.#isEmpty) return { faults: [{ path: '', message: 'it is empty' }] };
    if (this.#faults.length > 0) return { faults: this.#faults };
    const isPlayable = this.#lines.some(({ content }) => content.kind === 'document' || content.kind === 'answer');
    if (!isPlayable)
      return { faults: [{ path: '', message: 'it has no document and no answer, so there is nothing to play' }] };
    return { startedAtMs: this.#startedAtMs, anonymised: this.#anonymised, lines: this.#lines, isCut };
  }

  #takeHeader(value: object, number: number, isFirst: boolean): void {
    const header = this.#read(recordingHeader, value, number);
    if (!isFirst) this.#fault(number, 'is a header, but only the first line can be one');
    if (!header || !isFirst) return;
    this.#startedAtMs = header.startedAt;
    this.#anonymised = header.anonymised;
    this.#apiVersion = header.apiVersion ?? null;
  }

  #takeLine(kind: string, value: object, number: number): void {
    const schema = RECORDING_LINES.get(kind);
    const line = schema && this.#read(schema, value, number);
    if (!line) return;
    const { at, vm = null, apiVersion = this.#apiVersion, content } = line;
    this.#lines.push({ afterMs: this.#after(at, number), vm, apiVersion, content });
  }

  /** Reads a document as the metadata service sends it, with an optional `at`. */
  #takeBare(value: Readonly<Record<string, unknown>>, number: number): void {
    const { at, ...rest } = value;
    const atMs = at === undefined ? null : this.#read(recordingInstant, at, number, ['at']);
    const document = this.#read(recordedDocument, rest, number);
    if (!document) return;
    const afterMs = atMs === null ? this.#next() : this.#after(atMs, number);
    this.#lines.push({ afterMs, vm: null, apiVersion: this.#apiVersion, content: { kind: 'document', document } });
  }

  #next(): number {
    if (this.#lines.length > 0) this.#lastMs += POLL_MS;
    return this.#lastMs;
  }

  #after(atMs: number, number: number): number {
    // If the first documents of a capture have no time, its start is calculated from the first time.
    this.#startedAtMs ??= atMs - this.#next();
    const afterMs = atMs - this.#startedAtMs;
    if (afterMs < this.#lastMs) this.#fault(number, 'is earlier than the line before it', 'at');
    this.#lastMs = Math.max(this.#lastMs, afterMs);
    return this.#lastMs;
  }

  #read<Output>(
    schema: v.GenericSchema<unknown, Output>,
    value: unknown,
    number: number,
    at: Path = [],
  ): Output | null {
    const result = v.safeParse(schema, value);
    if (result.success) return result.output;
    for (const issue of result.issues) {
      const { path, ...fault } = faultOf(issue, [
        ...at,
        ...(issue.path ?? []).map(({ key }) => key as string | number),
      ]);
      this.#faults.push({ ...fault, path: path === '' ? `line ${number}` : `line ${number}: ${path}` });
    }
    return null;
  }

  #fault(number: number, message: string, at?: string): void {
    this.#faults.push({ path: `line ${number}${at === undefined ? '' : `: ${at}`}`, message });
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function cannotPlay(path: string, why: string, cause?: unknown): BridgeError {
  return new BridgeError(
    'BRIDGE_SIMULATOR_RECORDING',
    `cannot play ${path}: ${why}`,
    cause === undefined ? {} : { cause },
  );
}
