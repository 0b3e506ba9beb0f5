// Bulk requests on loopback → stored documents, and an item with a status for each.
import { plainBody } from './plain-body.ts';
import { type ReceivedRequest, type ReceiverOptions, WebhookReceiver } from './webhook-receiver.ts';

export interface IndexedDocument {
  readonly index: string;
  readonly id: string;
  readonly source: Readonly<Record<string, unknown>>;
  /** The unchanged bytes of the document. */
  readonly bytes: Uint8Array;
}

interface ItemError {
  readonly status: number;
  readonly type: string;
}

export class BulkIndex implements AsyncDisposable {
  readonly receiver: WebhookReceiver;
  /** The stored documents, each id once. */
  readonly documents: IndexedDocument[] = [];
  /** All documents that arrived, with repeats. */
  readonly arrived: IndexedDocument[] = [];
  /** The required header `authorization`; null: none. */
  authorization: string | null = null;
  /** The error for a document; null: it is stored. */
  fails: (document: IndexedDocument) => ItemError | null = () => null;
  /** The maximum size of a body; a longer one gets 413. */
  maxBytes = Number.POSITIVE_INFINITY;
  /** The ingest pipelines in the bulk requests, in order. */
  readonly pipelines: string[] = [];
  /** The number of bulk requests with documents, also rejected ones. */
  bulks = 0;

  private constructor(receiver: WebhookReceiver) {
    this.receiver = receiver;
    this.restore();
  }

  static async start(options: ReceiverOptions = {}): Promise<BulkIndex> {
    return new BulkIndex(await WebhookReceiver.start(options));
  }

  get url(): string {
    return new URL(this.receiver.url).origin;
  }

  /** Restores the normal answers. */
  restore(): void {
    this.receiver.default = (response, _, request) => {
      const { status, body } = this.#reply(request);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.receiver.stop();
  }

  #reply(request: ReceivedRequest): { readonly status: number; readonly body: object } {
    const { method, path, headers } = request;
    const { pathname, searchParams } = new URL(path, 'http://index');
    if (this.authorization !== null && headers.authorization !== this.authorization)
      return refused(401, 'security_exception');
    if (method !== 'POST' || !pathname.endsWith('/_bulk')) return refused(405, 'method_not_allowed');
    if (headers['content-type'] !== 'application/x-ndjson') return refused(406, 'media_type_header_exception');
    const body = plainBody(request);
    if (body.length === 0) return refused(400, 'parse_exception');
    this.bulks += 1;
    if (body.length > this.maxBytes) return refused(413, 'too_large');
    const lines = body.toString().split('\n');
    if (lines.pop() !== '' || lines.length % 2 !== 0) return refused(400, 'illegal_argument_exception');
    const pipeline = searchParams.get('pipeline');
    if (pipeline !== null) this.pipelines.push(pipeline);
    const items = Array.from({ length: lines.length / 2 }, (_, place) =>
      this.#index(lines[place * 2] ?? '', lines[place * 2 + 1] ?? ''),
    );
    return { status: 200, body: { took: 1, errors: items.some(({ create }) => 'error' in create), items } };
  }

  #index(action: string, text: string): { readonly create: object } {
    const { create } = JSON.parse(action) as { create: { _index: string; _id: string } };
    const document = {
      index: create._index,
      id: create._id,
      source: JSON.parse(text),
      bytes: Buffer.from(text),
    } as IndexedDocument;
    const failure = this.fails(document);
    if (failure !== null) return failed(create, failure, text);
    this.arrived.push(document);
    if (this.documents.some(({ id }) => id === create._id)) return failed(create, CONFLICT, text);
    this.documents.push(document);
    return { create: { ...create, status: 201, result: 'created' } };
  }
}

const CONFLICT: ItemError = { status: 409, type: 'version_conflict_engine_exception' };

/** The reasons quote the document, like those of Elasticsearch. */
function failed(create: object, { status, type }: ItemError, reason: string): { readonly create: object } {
  return { create: { ...create, status, error: { type, reason } } };
}

function refused(status: number, type: string): { readonly status: number; readonly body: object } {
  return { status, body: { error: { root_cause: [{ type }], type }, status } };
}
