// Metadata requests and answers → a recording: new documents, unexpected answers, POSTs.
import type { Logger } from 'pino';
import * as v from 'valibot';
import { canonicalJson } from '../../formats/canonical-json.ts';
import { isMapping } from '../../schema/validate.ts';
import type { Deps } from '../../time/clock.ts';
import { fromJsonBytes, pathAndQuery, type SimRequest } from '../answer.ts';
import { Anonymiser } from './anonymise.ts';
import {
  LONGEST_BODY,
  RECORDING_VERSION,
  type RecordedAnswer,
  type RecordedDocument,
  type RecordedPost,
  type RecordingHeader,
  type RecordingLine,
  recordedDocument,
} from './recording.ts';
import { RecordingFile } from './recording-file.ts';
import type { UpstreamAnswer } from './upstream.ts';

/** The last answers to one machine in one api-version. */
interface LastAnswers {
  /** The bytes of the last document; `document` has its canonical JSON. */
  body: Uint8Array | null;
  document: string | null;
  /** The fingerprint of the current run of unexpected answers; null after a document. */
  unexpected: string | null;
}

type LineContent = Pick<RecordingLine, 'document' | 'unchanged' | 'answer' | 'post'>;

/** Decides which answers become lines. Of a request it keeps only the api-version, and of a POST the StartRequests. */
export class Recorder {
  readonly #write: (line: RecordingLine) => void;
  /** By machine and api-version. */
  readonly #lastAnswers = new Map<string, LastAnswers>();
  #lastMs: number;

  /** @param startedAtMs no line is earlier */
  constructor(write: (line: RecordingLine) => void, startedAtMs: number) {
    this.#write = write;
    this.#lastMs = startedAtMs;
  }

  /**
   * Call it with every answer of the metadata routes, in order. Ignores a GET that the service rejects because of the
   * client's mistake: no `Metadata: true`, no valid api-version, or `X-Forwarded-For`.
   * @param atMs milliseconds since 1970, in the clock that NotBefore is compared with
   * @param vm the machine that answered, if known
   */
  record(request: SimRequest, answer: UpstreamAnswer, atMs: number, vm?: string): void {
    const [path, query] = pathAndQuery(request.url);
    if (!/^\/metadata\/scheduledevents\/?$/i.test(path)) return;
    const apiVersion = plainVersion(query);
    const content = this.#classify(request, answer, apiVersion, vm);
    if (!content) return;
    this.#lastMs = Math.max(this.#lastMs, atMs);
    const at = new Date(this.#lastMs).toISOString();
    this.#write({
      at,
      ...(vm === undefined ? {} : { vm }),
      ...(apiVersion === null ? {} : { apiVersion }),
      ...content,
    });
  }

  #classify(
    request: SimRequest,
    answer: UpstreamAnswer,
    apiVersion: string | null,
    vm: string | undefined,
  ): LineContent | null {
    if (request.method === 'POST') return { post: toPost(request, answer) };
    if (request.method !== 'GET' || apiVersion === null || !hasRequiredHeaders(request)) return null;
    const key = JSON.stringify([vm, apiVersion]);
    const last = this.#lastAnswers.get(key) ?? { body: null, document: null, unexpected: null };
    this.#lastAnswers.set(key, last);
    return classifyGet(last, answer);
  }
}

function classifyGet(last: LastAnswers, answer: UpstreamAnswer): LineContent | null {
  // A 304 for a document that was not recorded cannot be recorded.
  if (isWhole(answer) && answer.status === 304) return last.document === null ? null : unchanged(last);
  if (isWhole(answer) && answer.status === 200) {
    if (last.body && Buffer.compare(last.body, answer.body) === 0) return unchanged(last);
    const document = readDocument(answer.body);
    if (document) return classifyDocument(last, document, answer.body);
  }
  return classifyUnexpected(last, toAnswer(answer));
}

function classifyDocument(last: LastAnswers, document: RecordedDocument, body: Uint8Array): LineContent | null {
  const canonical = canonicalJson(document);
  last.body = body;
  if (canonical === last.document) return unchanged(last);
  last.document = canonical;
  last.unexpected = null;
  return { document };
}

function classifyUnexpected(last: LastAnswers, answer: RecordedAnswer): LineContent | null {
  const fingerprint = fingerprintOf(answer);
  if (fingerprint === last.unexpected) return null;
  last.unexpected = fingerprint;
  return { answer };
}

function unchanged(last: LastAnswers): LineContent | null {
  if (last.unexpected === null) return null;
  last.unexpected = null;
  return { unchanged: true };
}

function toAnswer(answer: UpstreamAnswer): RecordedAnswer {
  if (answer.reset) return { reset: true };
  const { status, headers, body, truncate, unreachable } = answer;
  const isCut = truncate !== undefined && truncate < body.length;
  const contentType = headers['content-type'];
  const retryAfter = headers['retry-after'];
  return {
    status,
    ...(contentType === undefined ? {} : { contentType }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    body: new TextDecoder().decode(isCut ? body.subarray(0, truncate) : body).slice(0, LONGEST_BODY),
    ...(isCut ? { cut: true } : {}),
    ...(unreachable === undefined ? {} : { unreachable }),
  };
}

/** Returns a text that is equal for all answers of a run. Their bodies can differ in times and request ids. */
function fingerprintOf({ body, retryAfter: _, ...rest }: RecordedAnswer): string {
  return JSON.stringify([rest, body === '']);
}

function toPost(request: SimRequest, { reset, status, unreachable }: UpstreamAnswer): RecordedPost {
  const body = fromJsonBytes(request.body);
  const requests = isMapping(body) ? body['StartRequests'] : null;
  return {
    StartRequests: Array.isArray(requests) ? requests : null,
    status: reset ? null : status,
    ...(unreachable === undefined ? {} : { unreachable }),
  };
}

function isWhole({ reset, truncate, body, unreachable }: UpstreamAnswer): boolean {
  return !reset && unreachable === undefined && (truncate === undefined || truncate >= body.length);
}

function hasRequiredHeaders(request: SimRequest): boolean {
  const headers = new Map(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]));
  return headers.get('metadata')?.trim().toLowerCase() === 'true' && headers.get('x-forwarded-for') === undefined;
}

/** Returns the api-version of a query, or null if it is missing, doubled or malformed: other texts could be private. */
function plainVersion(query: string): string | null {
  const versions = [...new URLSearchParams(query)]
    .filter(([name]) => name.toLowerCase() === 'api-version')
    .map(([, value]) => value);
  const [version = ''] = versions;
  return versions.length === 1 && /^\d{4}-\d{2}-\d{2}$/.test(version) ? version : null;
}

/** Returns the document as received, not the schema's copy, or null if the body is not a document. */
function readDocument(body: Uint8Array): RecordedDocument | null {
  const value = fromJsonBytes(body);
  return v.is(recordedDocument, value) ? value : null;
}

export interface RecordingOptions {
  readonly path: string;
  /** Replaces names and ids in the file; clients get the original answers. */
  readonly anonymise: boolean;
  /** Milliseconds since 1970, in the clock of the answers' times. */
  readonly startedAtMs: number;
  readonly deps: Pick<Deps, 'random'>;
  readonly logger?: Pick<Logger, 'error'>;
}

export interface Recording extends AsyncDisposable {
  readonly record: Recorder['record'];
}

/**
 * Starts a recording. If the file cannot be written any more, logs an error and stops recording; `record` then does
 * nothing.
 * @throws BridgeError BRIDGE_SIMULATOR_RECORDING if the file is not empty or cannot be created
 */
export async function startRecording({
  path,
  anonymise,
  startedAtMs,
  deps,
  logger,
}: RecordingOptions): Promise<Recording> {
  const header: RecordingHeader = {
    recording: RECORDING_VERSION,
    startedAt: new Date(startedAtMs).toISOString(),
    anonymised: anonymise,
  };
  const file = await RecordingFile.create(path, header, (error) => logger?.error({ code: error.code }, error.message));
  const anonymiser = anonymise ? new Anonymiser(deps.random) : null;
  const recorder = new Recorder((line) => file.append(anonymiser ? anonymiser.line(line) : line), startedAtMs);
  let isOver = false;
  const record: Recording['record'] = (...args) => {
    if (isOver) return;
    try {
      recorder.record(...args);
    } catch (error) {
      // A value that JSON.stringify cannot write, such as one nested too deeply. The client still gets its answer.
      isOver = true;
      logger?.error({ err: error }, 'an answer cannot be recorded; recording has stopped');
    }
  };
  return { record, [Symbol.asyncDispose]: () => file[Symbol.asyncDispose]() };
}
