// Rules, streams and tokens → a data collection endpoint on loopback that stores log records.
import { gunzipSync } from 'node:zlib';
import { type ReceivedRequest, type ReceiverOptions, WebhookReceiver } from '../webhook-receiver.ts';

/** The maximum size of a body before compression. */
export const MAX_BYTES = 1_048_576;

export const RULE = 'dcr-0123456789abcdef0123456789abcdef';
export const STREAM = 'Custom-ScheduledEvents';

export type Row = Readonly<Record<string, unknown>>;

interface Reply {
  readonly status: number;
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const PATH = /^\/dataCollectionRules\/([^/]+)\/streams\/([^/]+)$/;

export class DataCollectionEndpoint implements AsyncDisposable {
  /** The streams of each rule. */
  readonly rules = new Map([[RULE, new Set([STREAM])]]);
  /** Tokens that the endpoint rejects. */
  readonly revoked = new Set<string>();
  /** Whether the identity has the role on the rule. */
  hasRole = true;
  /** The seconds of Retry-After in a 429 to every request; null: no 429. */
  throttle: number | null = null;
  /** The maximum size of a body; tests may lower it. */
  maxBytes = MAX_BYTES;
  /** Answers 413 to a body that contains this text. */
  tooLarge: string | null = null;
  /** The stored rows, with repeats. */
  readonly rows: Row[] = [];
  /** The uncompressed sizes of the accepted bodies. */
  readonly sizes: number[] = [];
  /** The token of each request, in order. */
  readonly tokens: string[] = [];
  readonly receiver: WebhookReceiver;

  private constructor(receiver: WebhookReceiver) {
    this.receiver = receiver;
    this.restore();
  }

  static async start(options: ReceiverOptions = {}): Promise<DataCollectionEndpoint> {
    return new DataCollectionEndpoint(await WebhookReceiver.start(options));
  }

  get url(): string {
    return new URL(this.receiver.url).origin;
  }

  /** Restores the normal answers. */
  restore(): void {
    this.throttle = null;
    this.tooLarge = null;
    this.receiver.default = (response, _, request) => {
      const { status, code, headers } = this.#reply(request);
      if (status === 204) response.writeHead(204).end();
      else
        response
          .writeHead(status, { 'content-type': 'application/json', ...headers })
          .end(JSON.stringify({ error: { code } }));
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.receiver.stop();
  }

  #reply(request: ReceivedRequest): Reply {
    const { method, path, headers } = request;
    const { pathname, searchParams } = new URL(path, 'https://endpoint');
    const [, token = ''] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? [];
    this.tokens.push(token);
    if (token === '' || this.revoked.has(token)) return { status: 401, code: 'InvalidToken' };
    const [, rule = '', stream = ''] = PATH.exec(pathname) ?? [];
    const streams = this.rules.get(rule);
    if (method !== 'POST' || streams === undefined) return { status: 404, code: 'NotFound' };
    if (searchParams.get('api-version') !== '2023-01-01') return { status: 400, code: 'InvalidApiVersion' };
    if (!this.hasRole) return { status: 403, code: 'OperationFailed' };
    if (this.throttle !== null)
      return { status: 429, code: 'TooManyRequests', headers: { 'retry-after': String(this.throttle) } };
    if (!streams.has(stream)) return { status: 400, code: 'InvalidStream' };
    return this.#take(request);
  }

  #take({ headers, body }: ReceivedRequest): Reply {
    if (!/^application\/json\b/.test(headers['content-type'] ?? ''))
      return { status: 415, code: 'UnsupportedMediaType' };
    const text = plain(headers['content-encoding'], body, this.maxBytes);
    if (typeof text !== 'string') return text;
    if (this.tooLarge !== null && text.includes(this.tooLarge))
      return { status: 413, code: 'ContentLengthLimitExceeded' };
    const rows = rowsOf(text);
    if (rows === null) return { status: 400, code: 'InvalidPayload' };
    this.sizes.push(Buffer.byteLength(text));
    this.rows.push(...rows);
    return { status: 204 };
  }
}

/** Decompresses only up to the limit, to survive a compression bomb. */
function plain(encoding: string | undefined, body: Buffer, most: number): string | Reply {
  const tooLong: Reply = { status: 413, code: 'ContentLengthLimitExceeded' };
  if (body.byteLength > most) return tooLong;
  if (encoding === undefined) return body.toString();
  if (encoding !== 'gzip') return { status: 415, code: 'UnsupportedContentEncoding' };
  try {
    return gunzipSync(body, { maxOutputLength: most }).toString();
  } catch (error) {
    return error instanceof RangeError ? tooLong : { status: 400, code: 'InvalidPayload' };
  }
}

/** Returns the rows, or null if the text is not an array of objects. */
function rowsOf(text: string): readonly Row[] | null {
  try {
    const rows: unknown = JSON.parse(text);
    if (!Array.isArray(rows)) return null;
    return rows.every((row) => typeof row === 'object' && row !== null && !Array.isArray(row)) ? (rows as Row[]) : null;
  } catch {
    return null;
  }
}
