// The sink type `otlp`: options → an adapter that posts log records to an OpenTelemetry receiver.
import * as v from 'valibot';
import type { BridgeError } from '../../src/errors.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import type { HttpAnswer } from '../../src/net/http-exchange.ts';
import { choice } from '../../src/schema/pieces.ts';
import type { AdapterDefinition, AdapterDeps, Outcome } from '../adapter.ts';
import { connectionEntries } from '../http/connections.ts';
import { type StatusMeaning, takesNoSuchBody } from '../http/failures.ts';
import { batchEntries, compressionEntry, httpChecks, httpEntries } from '../http/http-options.ts';
import { type HttpSinkKind, httpSink, type SinkContext, type SinkRequest } from '../http/http-sink.ts';
import { oauthEntries } from '../http/oauth/oauth-options.ts';
import { readFailure, readSuccess } from './export-answer.ts';
import { encodeJson } from './json-encoder.ts';
import { encodeProtobuf } from './protobuf-encoder.ts';
import { resourceGroups } from './resource-groups.ts';

/** The OTLP sink's options (behaviour 9.6). */
export const otlpOptions = v.pipe(
  v.strictObject({
    type: v.pipe(v.optional(v.literal('otlp')), v.description('The kind of sink.')),
    ...httpEntries,
    encoding: choice(
      ['protobuf', 'json'],
      'protobuf',
      'Encoding of log records: protobuf or json. Default protobuf.',
      'must be protobuf or json',
    ),
    compression: compressionEntry('gzip'),
    ...batchEntries('', { members: 500, bytes: '1MiB', isCompressible: true }),
    ...connectionEntries,
    ...oauthEntries,
  }),
  httpChecks(),
);

type OtlpOptions = v.InferOutput<typeof otlpOptions>;

const GRPC_PORT = '4317';

/** Returns warnings for a URL that looks copied from a gRPC exporter: without a path, or with the port for gRPC. */
function urlWarnings({ pathname, port }: URL): readonly string[] {
  const noPath =
    'has no path, so the sink posts to /v1/logs: write the whole URL, such as https://otel.example.com:4318/v1/logs';
  const grpc = 'has port 4317, which is for gRPC: this sink uses HTTP, so use port 4318';
  return [...(pathname === '/' ? [noPath] : []), ...(port === GRPC_PORT ? [grpc] : [])];
}

/** Returns the URL for logs: with the default path if `url` has none, because no receiver accepts logs at `/`. */
export function logsUrl(url: URL): URL {
  if (url.pathname !== '/') return url;
  const whole = new URL(url);
  whole.pathname = '/v1/logs';
  return whole;
}

const ENCODINGS = {
  protobuf: { type: 'application/x-protobuf', encode: encodeProtobuf, other: 'json', growth: 2 },
  json: { type: 'application/json', encode: encodeJson, other: 'protobuf', growth: 4 },
} as const;

/** Posts log records. A batch with rejected records goes again in halves, because the answer does not name them. */
class LogExporter implements HttpSinkKind {
  readonly inFlight = 4;
  readonly growth: number;
  readonly base = logsUrl;
  readonly statuses: Readonly<Record<number, StatusMeaning>>;
  readonly #encoding: (typeof ENCODINGS)[OtlpOptions['encoding']];
  readonly #gzip: boolean;
  readonly #logger: AdapterDeps['logger'];
  /** The last logged message: a message that the receiver repeats in every answer is logged once. */
  #lastMessage = '';

  constructor({ encoding, compression }: OtlpOptions, { logger }: AdapterDeps) {
    this.#encoding = ENCODINGS[encoding];
    this.#gzip = compression === 'gzip';
    this.#logger = logger;
    this.growth = this.#encoding.growth;
    this.statuses = {
      415: takesNoSuchBody(`encoding: ${this.#encoding.other}${this.#gzip ? ', or compression: none' : ''}`),
    };
  }

  encode(batch: readonly Delivery[]): SinkRequest {
    const { type, encode } = this.#encoding;
    return { headers: { 'content-type': type }, body: encode(resourceGroups(batch)), gzip: this.#gzip };
  }

  judge(answer: HttpAnswer, batch: readonly Delivery[], { faults }: SinkContext): readonly Outcome[] {
    const fault = faults.ofStatus(answer);
    if (fault !== null) throw this.#logged(fault, answer);
    const success = readSuccess(answer.body);
    if (success === null) throw faults.noAnswer(answer.status, 'an answer of OTLP');
    const { rejected, message } = success;
    this.#log(message);
    if (rejected <= 0) return batch.map(() => 'accepted');
    const said = `rejected ${rejected} of ${batch.length} log records`;
    const advice = 'it rejects this event, which is a dead letter now';
    throw faults.refused({ said, advice, status: 'partialSuccess' }, false);
  }

  /** Posts a request without records. Receivers answer it like any other. */
  async check(context: SinkContext): Promise<string | null> {
    const answer = await context.post(this.encode([]));
    const fault = context.faults.ofStatus(answer);
    if (fault === null) {
      this.judge(answer, [], context);
      return null;
    }
    if (fault.disposition !== 'refused' || answer.status === 415) throw this.#logged(fault, answer);
    return `answered ${answer.status} to a request without log records; only a first record shows if it accepts any`;
  }

  #logged(fault: BridgeError, { body }: HttpAnswer): BridgeError {
    this.#log(readFailure(body));
    return fault;
  }

  /** Logs the receiver's message. The logger cuts it and escapes it. */
  #log(answer: string): void {
    if (answer === '' || answer === this.#lastMessage) return;
    this.#lastMessage = answer;
    this.#logger.warn({ answer }, 'the receiver of log records sent a message: see answer');
  }
}

export const otlpSink: AdapterDefinition<OtlpOptions> = httpSink({
  type: 'otlp',
  options: otlpOptions,
  urlWarnings,
  make: (options, deps) => new LogExporter(options, deps),
});
