// What a kind of HTTP sink adds to the kit → its definition: batches posted, answers judged.

import { promisify } from 'node:util';
import { unencodable } from '../../src/cloudevents/unencodable.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { HttpAnswer } from '../../src/net/http-exchange.ts';
import type { Schema } from '../../src/schema/pieces.ts';
import { reveal } from '../../src/secrets/secret.ts';
import type { Adapter, AdapterDefinition, AdapterDeps, AdapterLimits, OptionFault, Outcome } from '../adapter.ts';
import { addressFaults } from './address-faults.ts';
import { AnswerFaults } from './answer-faults.ts';
import { HttpClient, type HttpClientParts } from './http-client.ts';
import { type HttpOptions, httpSecretFaults, httpTarget, urlOf } from './http-options.ts';
import { SINK_CODES } from './sink-codes.ts';

/** What a service says of each member of a batch is far shorter; a longer body is as good as none. */
const MOST_ANSWER_BYTES = 8 * 1024 ** 2;

export interface HttpSinkOptions extends HttpOptions {
  readonly maxBatch: number;
  /** Bytes. */
  readonly maxBatchBytes: number;
}

export interface SinkRequest {
  /** Goes behind the path of the url; with a query, it takes the place of the url's. */
  readonly path?: string;
  /** `content-type` and what the kind needs besides; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
  readonly gzip?: boolean;
}

/** What a kind does within the time limit of one delivery or check. */
export interface SinkDoors {
  readonly faults: AnswerFaults;
  readonly signal: AbortSignal;
  /** Posts, under the sink's authorization and headers. The body of the answer is null where it is longer than 8 MiB. */
  post(request: SinkRequest): Promise<HttpAnswer>;
  /** Connects, TLS included, gets a token where there is one to get, and sends nothing. */
  touch(): Promise<null>;
}

/** What differs between kinds of HTTP sinks. Made without I/O. */
export interface HttpSinkKind extends Pick<HttpClientParts, 'authorization' | 'credentials' | 'statuses'> {
  /** Requests at once. */
  readonly inFlight: number;
  /** How many times its own size a CloudEvent may become in a body; 1 by default. */
  readonly growth?: number;
  /** Where the requests go, when that is not the url as it stands. */
  readonly base?: (url: URL) => URL;
  /** What has to go well before a batch is posted. @throws BridgeError that is the outcome of all */
  before?(doors: SinkDoors): Promise<void>;
  /** The same at every attempt: nothing of a clock or of chance is in it. What it throws is the refusal of the batch. */
  encode(batch: readonly Delivery[]): SinkRequest | Promise<SinkRequest>;
  /** One outcome for each member; by default all are accepted where the status table says so. @throws BridgeError that is the outcome of all */
  judge?(answer: HttpAnswer, batch: readonly Delivery[], doors: SinkDoors): readonly Outcome[] | Promise<readonly Outcome[]>;
  /** As `Adapter.check`; by default it connects. */
  check?(doors: SinkDoors): Promise<string | null>;
}

export interface HttpSinkDefinition<Options extends HttpSinkOptions> {
  readonly type: string;
  /** `httpEntries`, `batchEntries`, `connectionEntries` and what the kind has of its own. */
  readonly options: Schema<Options>;
  /** Of secrets that the kit does not know. */
  secretFaults?(options: Options): readonly OptionFault[];
  /** What is probably not meant of a valid url, one text each; none of it stands in them. */
  urlWarnings?(url: URL): readonly string[];
  make(options: Options, deps: AdapterDeps): HttpSinkKind;
}

export function httpSink<Options extends HttpSinkOptions>(definition: HttpSinkDefinition<Options>): AdapterDefinition<Options> {
  const { type, options, make } = definition;
  const own = (given: Options) => definition.secretFaults?.(given) ?? [];
  const secretFaults = (given: Options) => [...httpSecretFaults(given), ...own(given)];
  return {
    type,
    options,
    secretFaults: (given) => [...secretFaults(given), ...addressFaults(given)],
    warnings: (given) => {
      const { key, value } = urlOf(given);
      return (definition.urlWarnings?.(new URL(reveal(value))) ?? []).map((message) => ({ key, message }));
    },
    create: (given, deps) => {
      const target = httpTarget(given, deps.name, secretFaults(given));
      return new HttpSink(given, { kind: make(given, deps), target, deps });
    },
  };
}

interface HttpSinkParts extends Pick<HttpClientParts, 'target' | 'deps'> {
  readonly kind: HttpSinkKind;
}

/** Connects at the first delivery. */
class HttpSink implements Adapter {
  readonly limits: AdapterLimits;
  readonly #kind: HttpSinkKind;
  readonly #sink: string;
  readonly #http: HttpClient;
  readonly #faults: AnswerFaults;

  /** The secrets are open. */
  constructor(options: HttpSinkOptions, { kind, target, deps }: HttpSinkParts) {
    const { inFlight, growth = 1, base, authorization, credentials, statuses } = kind;
    this.limits = { inFlight, batch: options.maxBatch, batchBytes: Math.ceil(options.maxBatchBytes / growth) };
    this.#kind = kind;
    this.#sink = deps.name;
    const url = base?.(target.url) ?? target.url;
    const own = { authorization, credentials, statuses };
    this.#http = new HttpClient(options, { ...own, codes: SINK_CODES, target: { ...target, url }, inFlight, deps });
    this.#faults = new AnswerFaults(this.#http.place, deps.wallMs);
  }

  async check(signal: AbortSignal): Promise<string | null> {
    return await this.#http.attempt(signal, async (limited) => {
      const doors = this.#doors(limited);
      return (await this.#kind.check?.(doors)) ?? (await doors.touch());
    });
  }

  async deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const request = await this.#encoded(batch);
    return await this.#http.attempt(signal, async (limited) => {
      const doors = this.#doors(limited);
      await this.#kind.before?.(doors);
      const answer = await doors.post(request);
      if (this.#kind.judge) return await this.#kind.judge(answer, batch, doors);
      this.#http.accept(answer);
      return batch.map(() => 'accepted');
    });
  }

  close(): void {
    this.#http.close();
  }

  #doors(signal: AbortSignal): SinkDoors {
    return {
      faults: this.#faults,
      signal,
      post: (request) => this.#post(request, signal),
      touch: () => this.#http.touch(signal),
    };
  }

  async #post({ path, headers, body, gzip = false }: SinkRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const authorization = await this.#http.authorization(signal);
    const bytes = gzip ? await compressed(body) : body;
    const framing = { 'content-length': Buffer.byteLength(bytes), ...(gzip && { 'content-encoding': 'gzip' }) };
    const request = { method: 'POST', path, headers: { ...authorization, ...headers, ...framing }, body: bytes } as const;
    return await this.#http.exchange(request, MOST_ANSWER_BYTES, signal);
  }

  /** @throws BridgeError with disposition `refused`, whatever the encoder threw */
  async #encoded(batch: readonly Delivery[]): Promise<SinkRequest> {
    try {
      return await this.#kind.encode(batch);
    } catch (error) {
      throw unencodable(error, this.#sink, 'request');
    }
  }
}

function compressed(body: Uint8Array | string): Promise<Uint8Array> {
  return promisify<Uint8Array | string, Uint8Array>(process.getBuiltinModule('node:zlib').gzip)(body);
}
