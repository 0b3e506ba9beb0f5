// Metadata requests and answers → lines of a recording: distinct documents, odd answers, posts.
import * as v from 'valibot';
import { canonicalJson } from '../../formats/canonical-json.ts';
import { isMapping } from '../../schema/validate.ts';
import { fromJsonBytes, pathAndQuery, type SimRequest } from '../answer.ts';
import { LONGEST_BODY, type RecordedAnswer, type RecordedDocument, type RecordedPost, type RecordingLine } from './recording.ts';
import { recordedDocument } from './recording-schema.ts';
import type { UpstreamAnswer } from './upstream.ts';

/** What is remembered of one machine's answers in one api-version. */
interface LastSeen {
  /** The bytes and the canonical JSON of the last document. */
  body: Uint8Array | null;
  document: string | null;
  /** What the run of odd answers looks like that is going on; null after a document. */
  odd: string | null;
}

type Seen = Pick<RecordingLine, 'document' | 'unchanged' | 'answer' | 'post'>;

/** Judges what is worth a line; keeps no request header but the api-version. */
export class Recorder {
  readonly #write: (line: RecordingLine) => void;
  /** By machine and api-version. */
  readonly #lastSeen = new Map<string, LastSeen>();
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
  see(request: SimRequest, answer: UpstreamAnswer, atMs: number, vm?: string): void {
    const [path, query] = pathAndQuery(request.url);
    if (!/^\/metadata\/scheduledevents\/?$/i.test(path)) return;
    const apiVersion = plainVersion(query);
    const seen = this.#judge(request, answer, apiVersion, vm);
    if (!seen) return;
    this.#lastMs = Math.max(this.#lastMs, atMs);
    const at = new Date(this.#lastMs).toISOString();
    this.#write({ at, ...(vm === undefined ? {} : { vm }), ...(apiVersion === null ? {} : { apiVersion }), ...seen });
  }

  #judge(request: SimRequest, answer: UpstreamAnswer, apiVersion: string | null, vm: string | undefined): Seen | null {
    if (request.method === 'POST') return { post: toPost(request, answer) };
    if (request.method !== 'GET' || apiVersion === null || !isProper(request)) return null;
    const key = JSON.stringify([vm, apiVersion]);
    const last = this.#lastSeen.get(key) ?? { body: null, document: null, odd: null };
    this.#lastSeen.set(key, last);
    return judgeGet(last, answer);
  }
}

function judgeGet(last: LastSeen, answer: UpstreamAnswer): Seen | null {
  // Without a document known here, a 304 cannot be recorded.
  if (isWhole(answer) && answer.status === 304) return last.document === null ? null : unchanged(last);
  if (isWhole(answer) && answer.status === 200) {
    if (last.body && Buffer.compare(last.body, answer.body) === 0) return unchanged(last);
    const document = readDocument(answer.body);
    if (document) return judgeDocument(last, document, answer.body);
  }
  return judgeOdd(last, toAnswer(answer));
}

function judgeDocument(last: LastSeen, document: RecordedDocument, body: Uint8Array): Seen | null {
  const canonical = canonicalJson(document);
  last.body = body;
  if (canonical === last.document) return unchanged(last);
  last.document = canonical;
  last.odd = null;
  return { document };
}

function judgeOdd(last: LastSeen, answer: RecordedAnswer): Seen | null {
  const look = lookOf(answer);
  if (look === last.odd) return null;
  last.odd = look;
  return { answer };
}

function unchanged(last: LastSeen): Seen | null {
  if (last.odd === null) return null;
  last.odd = null;
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
function lookOf({ body, retryAfter: _, ...rest }: RecordedAnswer): string {
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

function isProper(request: SimRequest): boolean {
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
