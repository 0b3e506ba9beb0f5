// The section `http` of the configuration: where to listen, TLS, who reads: schema and types.
import * as v from 'valibot';
import { reader } from '../auth/options.ts';
import { drainSection } from '../conditions/draining.ts';
import type { ListenAddress } from '../net/guarded-server.ts';
import { pemFile } from '../net/tls-options.ts';
import { name, type OptionsOf } from '../schema/pieces.ts';

const ADDRESS = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/;

/** `127.0.0.1:8700`, `[::1]:8700`, `localhost:8700`. */
function address(description: string) {
  return v.pipe(
    v.string(),
    v.regex(ADDRESS, 'must be an address and a port, such as 127.0.0.1:8700 or [::1]:8700'),
    v.description(description),
    v.transform((text): ListenAddress => {
      const [, bracketed, plain, port] = ADDRESS.exec(text) ?? [];
      return { host: bracketed ?? plain ?? '', port: Number(port) };
    }),
    v.check(({ port }) => port <= 65_535, 'has a port above 65535'),
  );
}

export const httpSection = v.pipe(
  v.strictObject({
    listen: v.optional(
      address(
        'Where health, metrics, events and approvals are served. Beyond loopback only with tls, or allowInsecure: true. Port 0: any free one.',
      ),
      '127.0.0.1:8700',
    ),
    tls: v.exactOptional(
      v.pipe(
        v.strictObject({
          cert: pemFile('PEM file of the certificate and its chain.'),
          key: pemFile('PEM file of its private key.'),
          clientCa: v.exactOptional(
            pemFile(
              'PEM file of the authorities whose client certificates prove an approver. Clients are asked for one and may have none.',
            ),
          ),
        }),
        v.transform(({ clientCa, ...rest }) => ({ ...rest, clientCa: clientCa ?? null })),
        v.description('Serves HTTPS on listen. The files are read again when they change. Default: plain HTTP.'),
      ),
    ),
    readers: v.optional(
      v.pipe(v.record(name(), reader), v.description('By name: who may read /v1/*, not approve.')),
      {},
    ),
    health: v.exactOptional(
      address('Serves healthz, readyz, drainz and metrics alone, in plain HTTP, on a second address. Default: none.'),
    ),
    drain: v.exactOptional(drainSection),
    console: v.optional(
      v.pipe(v.boolean(), v.description('true: the console, a page for operators, is served at / on listen.')),
      false,
    ),
    allowInsecure: v.optional(
      v.pipe(v.boolean(), v.description('true: listen may lie beyond loopback without tls.')),
      false,
    ),
  }),
  v.transform(({ tls, health, drain, ...rest }) => ({
    ...rest,
    tls: tls ?? null,
    health: health ?? null,
    drain: drain ?? null,
  })),
  v.description('The HTTP interface.'),
);

/**
 * PEM files: secrets that reveal their texts and say where they are. `clientCa` is null if no client is asked for a
 * certificate.
 */
export type ServerTls = NonNullable<OptionsOf<typeof httpSection>['tls']>;
