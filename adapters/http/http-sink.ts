// The functions of a kind of HTTP sink → its definition: posts batches and evaluates answers.
import { promisify } from 'node:util';
import { unencodable } from '../../src/cloudevents/unencodable.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { HttpAnswer } from '../../src/net/http-exchange.ts';
import type { OptionFault } from '../../src/schema/faults.ts';
import type { Schema } from '../../src/schema/pieces.ts';
import { reveal } from '../../src/secrets/secret.ts';
import type { Adapter, AdapterDefinition, AdapterDeps, AdapterLimits, Outcome } from '../adapter.ts';
import { AnswerFaults } from './answer-faults.ts';
import { takesNoSuchBody } from './failures.ts';
import { HttpClient, type HttpClientParts } from './http-client.ts';
import { addressFaults, type HttpTargetOptions, httpSecretFaults, httpTarget, urlOf } from './http-options.ts';

/** The results for all members of a batch are far shorter. A longer body counts as none. */
const ANSWER_BYTES = 64 * 1024;
const ANSWER_BYTES_OF_EVENT = 4 * 1024;

interface HttpSinkOptions extends HttpTargetOptions {
  readonly maxBatch: number;
  /** Bytes. */
  readonly maxBatchBytes: number;
}

/** Returns the longest answer to a request with so many CloudEvents that is read: at most 4 MiB, for 1,000. */
export function mostAnswerBytes(events: number): number {
  return ANSWER_BYTES + ANSWER_BYTES_OF_EVENT * events;
}

export interface SinkRequest {
  /** Appended to the path of the url. A query replaces that of the url. */
  readonly path?: string;
  /** `content-type` and other headers of the kind; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
  readonly gzip?: boolean;
}

/** The operations of a kind within the time limit of one delivery or check. */
export interface SinkContext {
  readonly faults: AnswerFaults;
  readonly signal: AbortSignal;
  /** Posts with the sink's authorization and headers. The body of a longer answer than `mostAnswerBytes` is null. */
  post(request: SinkRequest): Promise<HttpAnswer>;
  /** Connects, including TLS, gets a token if one is configured, and sends nothing. */
  touch(): Promise<null>;
}

/** The functions that differ between kinds of HTTP sinks. Created without I/O. */
export interface HttpSinkKind extends Pick<HttpClientParts, 'authorization' | 'credentials' | 'statuses'> {
  /** Maximum number of parallel requests. */
  readonly inFlight: number;
  /** The maximum growth of a CloudEvent in a body, as a factor; 1 by default. */
  readonly growth?: number;
  /** Whether bodies are compressed. A receiver that answers 415 then gets none of them. */
  readonly gzip?: boolean;
  /** The base URL of the requests, if it differs from the url. */
  readonly base?: (url: URL) => URL;
  /** Runs before a batch is posted. @throws BridgeError that is the outcome of all members */
  before?(context: SinkContext): Promise<void>;
  /** Returns the same request at every attempt, without clock or random. An error makes the batch refused. */
  encode(batch: readonly Delivery[]): SinkRequest | Promise<SinkRequest>;
  /**
   * Returns one outcome for each member; by default the status table decides for all.
   * @throws BridgeError that is the outcome of all members
   */
  judge?(
    answer: HttpAnswer,
    batch: readonly Delivery[],
    context: SinkContext,
  ): readonly Outcome[] | Promise<readonly Outcome[]>;
  /** Like `Adapter.check`; by default it connects. */
  check?(context: SinkContext): Promise<string | null>;
}

interface HttpSinkDefinition<Options extends HttpSinkOptions> {
  readonly type: string;
  /** `httpEntries`, `batchEntries`, `connectionEntries` and the kind's own keys. */
  readonly options: Schema<Options>;
  /** The faults of the kind's own secrets. */
  secretFaults?(options: Options): readonly OptionFault[];
  /** Warnings about a valid but suspicious url, without any of its text. */
  urlWarnings?(url: URL): readonly string[];
  make(options: Options, deps: AdapterDeps): HttpSinkKind;
}

export function httpSink<Options extends HttpSinkOptions>(
  definition: HttpSinkDefinition<Options>,
): AdapterDefinition<Options> {
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

/** Connects at the first delivery. */
class HttpSink implements Adapter {
  readonly limits: AdapterLimits;
  readonly #kind: HttpSinkKind;
  readonly #sink: string;
  readonly #http: HttpClient;
  readonly #faults: AnswerFaults;

  /** The secrets must be open. */
  constructor(
    options: HttpSinkOptions,
    { kind, target, deps }: Pick<HttpClientParts, 'target' | 'deps'> & { readonly kind: HttpSinkKind },
  ) {
    const { inFlight, growth = 1, base, authorization, credentials } = kind;
    const statuses = kind.statuses ?? (kind.gzip ? { 415: takesNoSuchBody('compression: none') } : undefined);
    this.limits = { inFlight, batch: options.maxBatch, batchBytes: Math.ceil(options.maxBatchBytes / growth) };
    this.#kind = kind;
    this.#sink = deps.name;
    const url = base?.(target.url) ?? target.url;
    const own = { authorization, credentials, statuses };
    this.#http = new HttpClient(options, { ...own, target: { ...target, url }, inFlight, deps });
    this.#faults = new AnswerFaults(this.#http.place, deps.wallMs);
  }

  async check(signal: AbortSignal): Promise<string | null> {
    return await this.#http.attempt(signal, async (limited) => {
      const context = this.#context(1, limited);
      return (await this.#kind.check?.(context)) ?? (await context.touch());
    });
  }

  async deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]> {
    const request = await this.#encoded(batch);
    return await this.#http.attempt(signal, async (limited) => {
      const context = this.#context(batch.length, limited);
      await this.#kind.before?.(context);
      const answer = await context.post(request);
      if (this.#kind.judge) return await this.#kind.judge(answer, batch, context);
      this.#http.accept(answer);
      return batch.map(() => 'accepted');
    });
  }

  close(): void {
    this.#http.close();
  }

  #context(events: number, signal: AbortSignal): SinkContext {
    return {
      faults: this.#faults,
      signal,
      post: (request) => this.#post(request, mostAnswerBytes(events), signal),
      touch: () => this.#http.touch(signal),
    };
  }

  async #post(
    { path, headers, body, gzip = false }: SinkRequest,
    mostBytes: number,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const authorization = await this.#http.authorization(signal);
    const bytes = gzip ? await compressed(body) : body;
    const framing = { 'content-length': Buffer.byteLength(bytes), ...(gzip && { 'content-encoding': 'gzip' }) };
    const request = {
      method: 'POST',
      path,
      headers: { ...authorization, ...headers, ...framing },
      body: bytes,
    } as const;
    return await this.#http.exchange(request, mostBytes, signal);
  }

  /** @throws BridgeError with disposition `refused` for any error of the encoder */
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
