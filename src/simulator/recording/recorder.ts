// Metadata requests and answers → lines of a recording: distinct documents, odd answers, posts.
import * as v from 'valibot';
import { canonicalJson } from '../../formats/canonical-json.ts';
import { isMapping } from '../../schema/validate.ts';
import { fromJsonBytes, pathAndQuery, type SimRequest } from '../answer.ts';
import { LONGEST_BODY, type RecordedAnswer, type RecordedDocument, type RecordedPost, type RecordingLine } from './recording.ts';
import { recordedDocument } from './recording-schema.ts';
import type { UpstreamAnswer } from './upstream.ts';

/** What is remembered of one machine's answers in one api-version. */
interface LastAnswers {
  /** The bytes and the canonical JSON of the last document. */
  body: Uint8Array | null;
  document: string | null;
  /** What the run of odd answers looks like that is going on; null after a document. */
  unexpected: string | null;
}

type LineContent = Pick<RecordingLine, 'document' | 'unchanged' | 'answer' | 'post'>;

/** Judges what is worth a line; keeps no request header but the api-version. */
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
   * To be called with every answer of the metadata routes, in the order in which they were given.
   * A GET that the service refuses for the client's own mistake (no `Metadata: true`, no plain api-version, a proxy's header) says nothing of it and is left out.
   * @param atMs since 1970, by the clock that NotBefore is compared with
   * @param vm the machine that was asked, where it is known
   */
  record(request: SimRequest, answer: UpstreamAnswer, atMs: number, vm?: string): void {
    const [path, query] = pathAndQuery(request.url);
    if (!/^\/metadata\/scheduledevents\/?$/i.test(path)) return;
    const apiVersion = plainVersion(query);
    const content = this.#classify(request, answer, apiVersion, vm);
    if (!content) return;
    this.#lastMs = Math.max(this.#lastMs, atMs);
    const at = new Date(this.#lastMs).toISOString();
    this.#write({ at, ...(vm === undefined ? {} : { vm }), ...(apiVersion === null ? {} : { apiVersion }), ...content });
  }

  #classify(request: SimRequest, answer: UpstreamAnswer, apiVersion: string | null, vm: string | undefined): LineContent | null {
    if (request.method === 'POST') return { post: toPost(request, answer) };
    if (request.method !== 'GET' || apiVersion === null || !hasRequiredHeaders(request)) return null;
    const key = JSON.stringify([vm, apiVersion]);
    const last = this.#lastAnswers.get(key) ?? { body: null, document: null, unexpected: null };
    this.#lastAnswers.set(key, last);
    return classifyGet(last, answer);
  }
}

function classifyGet(last: LastAnswers, answer: UpstreamAnswer): LineContent | null {
  // Without a document known here, a 304 cannot be recorded.
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

/** Equal for the answers of one run, in which times and request ids may differ. */
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

/** The one api-version of a query, if it looks like one: what else a client may write there is none of a recording's business. */
function plainVersion(query: string): string | null {
  const versions = [...new URLSearchParams(query)].filter(([name]) => name.toLowerCase() === 'api-version').map(([, value]) => value);
  const [version = ''] = versions;
  return versions.length === 1 && /^\d{4}-\d{2}-\d{2}$/.test(version) ? version : null;
}

/** As it is, and not as the schema copies it; null where it is none. */
function readDocument(body: Uint8Array): RecordedDocument | null {
  const value = fromJsonBytes(body);
  return v.is(recordedDocument, value) ? value : null;
}
