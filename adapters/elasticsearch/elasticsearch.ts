// The sink type `elasticsearch`: options → an adapter that stores documents in an index.
import { isObject } from '../../src/formats/json-object.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { HttpAnswer } from '../../src/net/http-exchange.ts';
import type { AdapterDefinition, AdapterDeps, Outcome } from '../adapter.ts';
import type { RequestAuthorization } from '../http/authorization.ts';
import { type HttpSinkKind, httpSink, type SinkContext, type SinkRequest } from '../http/http-sink.ts';
import { jsonMembers } from '../http/json-body.ts';
import { bulkOutcomes } from './bulk-answer.ts';
import { encodeBulk } from './document-encoder.ts';
import {
  authorizationOf,
  credentialFaults,
  type ElasticsearchOptions,
  elasticsearchOptions,
} from './elasticsearch-options.ts';

const UNKNOWN_REJECTION =
  'answered 400 to a bulk request without documents, but not with an error of Elasticsearch; only a first document shows if it accepts any';

/** Creates documents with bulk requests. The index finds repeats by `_id`. */
class BulkIndex implements HttpSinkKind {
  readonly inFlight = 4;
  /** A document has the attributes, the data, and the fields of ECS that repeat them. */
  readonly growth = 2;
  readonly base: (url: URL) => URL;
  readonly gzip: boolean;
  readonly credentials = 'apiKey, password or headers';
  readonly authorization: RequestAuthorization;
  readonly #options: ElasticsearchOptions;
  /** The `_id` of each document, for batches in progress. */
  readonly #ids = new WeakMap<readonly Delivery[], readonly string[]>();

  constructor(options: ElasticsearchOptions, deps: AdapterDeps) {
    this.authorization = authorizationOf(options, deps);
    this.#options = options;
    this.base = (url) => bulkBase(url, options.pipeline);
    this.gzip = options.compression === 'gzip';
  }

  encode(batch: readonly Delivery[]): SinkRequest {
    const { ids, body } = encodeBulk(batch, this.#options);
    this.#ids.set(batch, ids);
    return { ...bulk(body), gzip: this.gzip };
  }

  judge(answer: HttpAnswer, batch: readonly Delivery[], { faults }: SinkContext): readonly Outcome[] {
    return bulkOutcomes(answer, { ids: this.#ids.get(batch) ?? [], pipeline: this.#options.pipeline }, faults);
  }

  /**
   * Posts a bulk request without documents. Elasticsearch rejects it with a JSON error. Gateways accept it, or reject
   * it with other errors. It is never compressed, because Fluent Bit closes the connection after a compressed empty
   * body.
   */
  async check({ post, faults }: SinkContext): Promise<string | null> {
    const answer = await post(bulk(''));
    const { error, items } = jsonMembers(answer.body);
    const fault = faults.ofStatus(answer);
    if (answer.status === 400 && isObject(error)) return null;
    if (fault === null && Array.isArray(items)) return null;
    if (answer.status === 400 && !isPage(answer.body)) return UNKNOWN_REJECTION;
    throw fault ?? faults.noAnswer(answer.status, 'the answer of an index to an empty bulk request');
  }
}

function bulk(body: SinkRequest['body']): SinkRequest {
  return { path: '/_bulk', headers: { 'content-type': 'application/x-ndjson' }, body };
}

/** Returns true for an HTML page: a web server answered, not an index. */
function isPage(body: Buffer | null): boolean {
  return body === null || body.toString().trimStart().startsWith('<');
}

/** Returns the base URL of the cluster. `url` may end in `/_bulk`. Its query stays, and the pipeline is added. */
function bulkBase(url: URL, pipeline: string | undefined): URL {
  const base = new URL(url);
  base.pathname = url.pathname.replace(/\/_bulk\/*$/, '');
  if (pipeline !== undefined)
    base.search = `${url.search === '' ? '?' : `${url.search}&`}pipeline=${encodeURIComponent(pipeline)}`;
  return base;
}

export const elasticsearchSink: AdapterDefinition<ElasticsearchOptions> = httpSink({
  type: 'elasticsearch',
  options: elasticsearchOptions,
  secretFaults: credentialFaults,
  make: (options, deps) => new BulkIndex(options, deps),
});
