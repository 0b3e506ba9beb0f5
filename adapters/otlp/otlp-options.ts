// The configuration of an OTLP sink → checked options, and the URL of its requests.
import * as v from 'valibot';
import { connectionEntries } from '../http/connections.ts';
import { batchEntries, compressionEntry, httpChecks, httpEntries } from '../http/http-options.ts';
import { oauthEntries } from '../http/oauth/oauth-options.ts';

/** The OTLP sink's options (behaviour 9.6). */
export const otlpOptions = v.pipe(
  v.strictObject({
    type: v.pipe(v.optional(v.literal('otlp')), v.description('The kind of sink.')),
    ...httpEntries,
    encoding: v.pipe(
      v.optional(v.picklist(['protobuf', 'json'], 'must be protobuf or json'), 'protobuf'),
      v.description('Encoding of log records: protobuf or json. Default protobuf.'),
    ),
    compression: compressionEntry('gzip'),
    ...batchEntries('', { members: 500, bytes: '1MiB', isCompressible: true }),
    ...connectionEntries,
    ...oauthEntries,
  }),
  httpChecks(),
);

export type OtlpOptions = v.InferOutput<typeof otlpOptions>;

const GRPC_PORT = '4317';

/** Returns warnings for a URL that looks copied from a gRPC exporter: without a path, or with the port for gRPC. */
export function urlWarnings({ pathname, port }: URL): readonly string[] {
  const noPath = 'has no path, so the sink posts to /v1/logs: write the whole URL, such as https://otel.example.com:4318/v1/logs';
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
