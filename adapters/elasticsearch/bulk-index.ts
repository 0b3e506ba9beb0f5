// Batches → bulk requests to one index, repeats found by id; a check without a document.

import { isObject } from '../../src/formats/json-object.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { HttpAnswer } from '../../src/net/http-exchange.ts';
import type { AdapterDeps, Outcome } from '../adapter.ts';
import type { Authorization } from '../http/authorization.ts';
import type { StatusMeaning } from '../http/failures.ts';
import type { HttpSinkKind, SinkDoors, SinkRequest } from '../http/http-sink.ts';
import { jsonMembers } from '../http/json-body.ts';
import { takesNoSuchBody } from '../http/status-fault.ts';
import { bulkOutcomes } from './bulk-answer.ts';
import { encodeBulk } from './document-encoder.ts';
import { authorizationOf, type ElasticsearchOptions } from './elasticsearch-options.ts';

const REFUSED_IN_OWN_WORDS =
  'answered 400 to a bulk request without documents, and not as Elasticsearch does; whether it takes any shows with the first';

export class BulkIndex implements HttpSinkKind {
  readonly inFlight = 4;
  /** A document has the attributes, the data and what the schema says of them. */
  readonly growth = 2;
  readonly base: (url: URL) => URL;
  readonly statuses: Readonly<Record<number, StatusMeaning>>;
  readonly credentials = 'apiKey, password or headers';
  readonly authorization: Authorization;
  readonly #options: ElasticsearchOptions;
  /** `_id` of each document, of batches under way. */
  readonly #ids = new WeakMap<readonly Delivery[], readonly string[]>();

  constructor(options: ElasticsearchOptions, deps: AdapterDeps) {
    this.authorization = authorizationOf(options, deps);
    this.#options = options;
    this.base = (url) => bulkBase(url, options.pipeline);
    this.statuses = options.compression === 'gzip' ? { 415: takesNoSuchBody('compression: none') } : {};
  }

  encode(batch: readonly Delivery[]): SinkRequest {
    const { ids, body } = encodeBulk(batch, this.#options);
    this.#ids.set(batch, ids);
    return { ...bulk(body), gzip: this.#options.compression === 'gzip' };
  }

  judge(answer: HttpAnswer, batch: readonly Delivery[], { faults }: SinkDoors): readonly Outcome[] {
    return bulkOutcomes(answer, { ids: this.#ids.get(batch) ?? [], pipeline: this.#options.pipeline }, faults);
  }

  /**
   * Elasticsearch refuses a bulk request without documents, in JSON. Gateways accept it, or refuse it in words of their own. It is never
   * compressed: Fluent Bit closes the connection at an empty body that is.
   */
  async check({ post, faults }: SinkDoors): Promise<string | null> {
    const answer = await post(bulk(''));
    const { error, items } = jsonMembers(answer.body);
    const fault = faults.ofStatus(answer);
    if (answer.status === 400 && isObject(error)) return null;
    if (fault === null && Array.isArray(items)) return null;
    if (answer.status === 400 && !isPage(answer.body)) return REFUSED_IN_OWN_WORDS;
    throw fault ?? faults.noAnswer(answer.status, 'what an empty bulk request leads to');
  }
}

function bulk(body: SinkRequest['body']): SinkRequest {
  return { path: '/_bulk', headers: { 'content-type': 'application/x-ndjson' }, body };
}

/** Web servers explain themselves in HTML, and are not an index. */
function isPage(body: Buffer | null): boolean {
  return body === null || body.toString().trimStart().startsWith('<');
}

/** `url` may be that of the cluster or lead to its bulk requests. What it asks for itself stays, and the pipeline is added. */
function bulkBase(url: URL, pipeline: string | undefined): URL {
  const base = new URL(url);
  base.pathname = url.pathname.replace(/\/_bulk\/*$/, '');
  if (pipeline !== undefined) base.search = `${url.search === '' ? '?' : `${url.search}&`}pipeline=${encodeURIComponent(pipeline)}`;
  return base;
}
