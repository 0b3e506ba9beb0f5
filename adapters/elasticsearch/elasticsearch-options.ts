// The configuration of an Elasticsearch sink → checked options, credentials and their faults.
import * as v from 'valibot';
import type { OptionFault } from '../../src/schema/faults.ts';
import { choice, rule, secret } from '../../src/schema/pieces.ts';
import { reveal, Secret } from '../../src/secrets/secret.ts';
import {
  headerFault,
  noAuthorization,
  type RenewedDeps,
  type RequestAuthorization,
  secretAuthorization,
} from '../http/authorization.ts';
import { connectionEntries } from '../http/connections.ts';
import { batchEntries, compressionEntry, httpChecks, httpEntries, ownAuthorization } from '../http/http-options.ts';

const FORMATS = ['ecs', 'json'] as const;
/** A valid name of an index, data stream or alias: at most 255 bytes. */
const INDEX = /^(?![-_+.])[^\s\\/*?"<>|,#:A-Z]{1,255}$/;
const INDEX_FAULT =
  'must be the name of an index or data stream: lower case, without spaces and \\ / * ? " < > | , # :, and without - _ + or . at the beginning';

/** The Elasticsearch sink's options (behaviour 9.5). */
export const elasticsearchOptions = v.pipe(
  v.strictObject({
    type: v.pipe(v.optional(v.literal('elasticsearch')), v.description('The kind of sink.')),
    ...httpEntries,
    index: v.pipe(
      v.optional(
        v.pipe(
          v.string(),
          v.check((name) => INDEX.test(name) && Buffer.byteLength(name) <= 255, INDEX_FAULT),
        ),
        'logs-azure.scheduledevents-default',
      ),
      v.description('The index, data stream or alias to write to. Default logs-azure.scheduledevents-default.'),
    ),
    format: choice(
      FORMATS,
      'ecs',
      'Content of a document: ecs, the Elastic Common Schema; json, the CloudEvent with @timestamp added. Default ecs.',
    ),
    apiKey: v.exactOptional(
      v.pipe(secret(), v.description('An API key in its encoded form: { env: NAME } or { file: PATH }.')),
    ),
    username: v.exactOptional(
      v.pipe(
        v.union([v.pipe(v.string(), v.minLength(1)), secret()], 'must be text, { env: NAME } or { file: PATH }'),
        v.description('The user of basic authentication; needs password.'),
      ),
    ),
    password: v.exactOptional(
      v.pipe(secret(), v.description('The password of username: { env: NAME } or { file: PATH }.')),
    ),
    pipeline: v.exactOptional(
      v.pipe(
        v.string(),
        v.minLength(1),
        v.description('The ingest pipeline for each document. Default: that of the index.'),
      ),
    ),
    compression: compressionEntry('none'),
    ...batchEntries('', { members: 500, bytes: '1MiB', isCompressible: true }),
    ...connectionEntries,
  }),
  httpChecks(),
  ownAuthorization('apiKey', 'username'),
  rule(
    'apiKey',
    ({ apiKey, username }) => !apiKey || !username,
    'cannot be combined with username: remove one of the two',
  ),
  rule(
    'username',
    ({ username, password }) => username !== undefined || password === undefined,
    'is missing: password needs it',
  ),
  rule(
    'password',
    ({ username, password }) => username === undefined || password !== undefined,
    'is missing: username needs it',
  ),
);

export type ElasticsearchOptions = v.InferOutput<typeof elasticsearchOptions>;

export function credentialFaults({ apiKey, username }: ElasticsearchOptions): readonly OptionFault[] {
  const keyFault = apiKey === undefined ? null : headerFault(apiKey.reveal());
  return [
    ...(keyFault === null ? [] : [{ key: 'apiKey', message: keyFault }]),
    ...(username !== undefined && reveal(username).includes(':')
      ? [{ key: 'username', message: 'must not contain a colon (RFC 7617)' }]
      : []),
  ];
}

/** Returns an authorization by API key, by name and password, or none if only `headers` authenticate. */
export function authorizationOf(
  { apiKey, username, password }: ElasticsearchOptions,
  deps: RenewedDeps,
): RequestAuthorization {
  if (apiKey !== undefined) return secretAuthorization([['apiKey', apiKey]], ([key]) => `ApiKey ${key}`, deps);
  if (username === undefined || password === undefined) return noAuthorization;
  if (username instanceof Secret)
    return secretAuthorization(
      [
        ['username', username],
        ['password', password],
      ],
      ([name, word]) => basic(`${name}:${word}`),
      deps,
    );
  return secretAuthorization([['password', password]], ([word]) => basic(`${username}:${word}`), deps);
}

function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}
