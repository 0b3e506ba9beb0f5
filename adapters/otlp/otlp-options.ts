// What the configuration says of an OTLP sink → checked options, and where its requests go.
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
      v.description('How log records are written: protobuf or json. Default protobuf.'),
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

/** Of a url that was copied from the settings of a gRPC exporter: those have no path, and a port of their own. */
export function urlWarnings({ pathname, port }: URL): readonly string[] {
  const noPath = 'has no path, so records go to /v1/logs: write the whole URL, such as https://otel.example.com:4318/v1/logs';
  const grpc = 'names port 4317, which receivers have for gRPC: this sink speaks HTTP, for which they have 4318';
  return [...(pathname === '/' ? [noPath] : []), ...(port === GRPC_PORT ? [grpc] : [])];
}

/** No receiver takes logs at `/`: a url without a path means the usual one. Any other path is taken as it is. */
export function logsUrl(url: URL): URL {
  if (url.pathname !== '/') return url;
  const whole = new URL(url);
  whole.pathname = '/v1/logs';
  return whole;
}
