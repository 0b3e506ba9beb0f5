// Exports over HTTP on loopback → log records, and answers by the rules of OTLP.
import { isObject, type JsonObject } from '../../../src/formats/json-object.ts';
import { plainBody } from '../plain-body.ts';
import { type Answer, type ReceivedRequest, type ReceiverOptions, WebhookReceiver } from '../webhook-receiver.ts';
import { readJson, readProtobuf } from './read-request.ts';

/** A record with its resource and scope; attributes by their names. */
export interface ReceivedRecord {
  readonly resource: JsonObject;
  readonly scope: unknown;
  /** The record without its attributes. */
  readonly record: JsonObject;
  readonly attributes: JsonObject;
}

/** Reads as strictly as the published definitions: unknown members get 400. */
export class LogReceiver implements AsyncDisposable {
  readonly http: WebhookReceiver;
  readonly records: ReceivedRecord[] = [];
  /** Records that contain this text are rejected. */
  badText: string | null = null;
  /** The `errorMessage` of every answer. */
  message = '';

  private constructor(http: WebhookReceiver) {
    this.http = http;
    this.restore();
  }

  static async start(options: ReceiverOptions = {}): Promise<LogReceiver> {
    return new LogReceiver(await WebhookReceiver.start(options));
  }

  get url(): string {
    return new URL('/v1/logs', this.http.url).href;
  }

  /** Restores the normal answers. */
  restore(): void {
    this.http.default = (response, _, request) => {
      const { status, type, body } = this.#answer(request);
      response.writeHead(status, { 'content-type': type }).end(body);
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.http.stop();
  }

  #answer(request: ReceivedRequest): { readonly status: number; readonly type: string; readonly body: Buffer } {
    const type = request.headers['content-type'] ?? '';
    const isJson = type === 'application/json';
    try {
      const records = recordsOf(readRequest(request));
      const bad = records.filter(
        (each) => this.badText !== null && JSON.stringify(each.attributes).includes(this.badText),
      );
      this.records.push(...records.filter((each) => !bad.includes(each)));
      return { status: 200, type, body: (isJson ? successInJson : successInProtobuf)(bad.length, this.message) };
    } catch (error) {
      const message = String(error).slice(0, 100);
      const body = isJson
        ? Buffer.from(JSON.stringify({ code: 3, message }))
        : Buffer.from([8, 3, ...text(0x12, message)]);
      return { status: 400, type, body };
    }
  }
}

export function readRequest({ headers, body }: Pick<ReceivedRequest, 'headers' | 'body'>): JsonObject {
  const plain = plainBody({ headers, body });
  return headers['content-type'] === 'application/json' ? readJson(plain.toString()) : readProtobuf(plain);
}

export function recordsOf(request: JsonObject): readonly ReceivedRecord[] {
  return listOf(request['resourceLogs']).flatMap(({ resource, scopeLogs }) =>
    listOf(scopeLogs).flatMap(({ scope, logRecords }) =>
      listOf(logRecords).map(({ attributes, ...record }) => ({
        resource: byName((resource as JsonObject)['attributes']),
        scope,
        record,
        attributes: byName(attributes),
      })),
    ),
  );
}

function listOf(value: unknown): readonly JsonObject[] {
  return (Array.isArray(value) ? value : []) as readonly JsonObject[];
}

function byName(attributes: unknown): JsonObject {
  return Object.fromEntries(listOf(attributes).map(({ key, value }) => [key, plain(value)]));
}

/** Returns the value in an AnyValue. */
function plain(value: unknown): unknown {
  const [[kind, held] = ['', null]] = Object.entries(value as JsonObject);
  if (kind === 'arrayValue') return listOf(isObject(held) ? held['values'] : null).map(plain);
  return kind === 'intValue' ? Number(held) : held;
}

function successInJson(rejected: number, errorMessage: string): Buffer {
  const partialSuccess = {
    ...(rejected > 0 && { rejectedLogRecords: String(rejected) }),
    ...(errorMessage !== '' && { errorMessage }),
  };
  return Buffer.from(JSON.stringify(rejected > 0 || errorMessage !== '' ? { partialSuccess } : {}));
}

/** Returns the body of a success; empty if no record was rejected and there is no message. */
export function successInProtobuf(rejected: number, message: string): Buffer {
  const partial = [...(rejected > 0 ? [8, rejected] : []), ...(message === '' ? [] : text(0x12, message))];
  return Buffer.from(partial.length === 0 ? [] : [0x0a, partial.length, ...partial]);
}

/** Encodes a text of fewer than 128 bytes. */
function text(tag: number, value: string): readonly number[] {
  const bytes = Buffer.from(value);
  return [tag, bytes.length, ...bytes];
}

/** Returns an answer with this body. */
export function answering(status: number, type: string, body: Uint8Array | string): Answer {
  return (response) => response.writeHead(status, { 'content-type': type }).end(body);
}
