// The configuration's sections that say who may read and approve, and where: http and approvals, schema and types.
import * as v from 'valibot';
import { pemFile } from '../net/tls-options.ts';
import { secret } from '../schema/pieces.ts';
import type { Secret } from '../secrets/secret.ts';
import { address, name, texts } from './fields.ts';
import { group } from './group.ts';
import { jwtSection } from './jwt-section.ts';
import { policy, required } from './policy.ts';

const tokenEntries = {
  token: v.exactOptional(
    v.pipe(
      secret(),
      v.description('The bearer token, { env: NAME } or { file: PATH }, at least 16 characters; nobody else may have the same.'),
    ),
  ),
  tokens: v.exactOptional(
    v.pipe(
      v.array(secret()),
      v.minLength(1, 'must hold at least one token'),
      v.description('Several tokens, each valid, while one is being replaced.'),
    ),
  ),
};

const ONE_OF_BOTH = 'needs either token or tokens';

interface Tokens {
  readonly token?: Secret;
  readonly tokens?: readonly Secret[];
}

const isEither = ({ token, tokens }: Tokens) => (token === undefined) !== (tokens === undefined);
/** `listed`: they stand under `tokens`. */
const tokensOf = ({ token, tokens }: Tokens) => ({ tokens: tokens ?? (token ? [token] : []), listed: tokens !== undefined });

const reader = v.pipe(
  v.strictObject(tokenEntries),
  v.check((given) => isEither(given), ONE_OF_BOTH),
  v.transform((given) => tokensOf(given)),
);

const proofEntries = {
  certificate: v.exactOptional(
    v.pipe(
      v.string(),
      v.minLength(1, 'must not be empty'),
      v.description(
        'A name in a client certificate that http.tls.clientCa signed: its common name, or an alternative name of type DNS, URI or e-mail.',
      ),
    ),
  ),
  subject: v.exactOptional(
    v.pipe(
      v.string(),
      v.minLength(1, 'must not be empty'),
      v.description('What stands in the claim of a token of approvals.jwt, or in its list.'),
    ),
  ),
};

/** Without a token: one with another proof, or that a source names. */
const approver = v.pipe(
  v.strictObject({
    ...tokenEntries,
    ...proofEntries,
    admin: v.optional(v.pipe(v.boolean(), v.description('true: may release the holds of others, too.')), false),
    scope: v.exactOptional(
      v.pipe(
        v.strictObject({
          impacts: v.exactOptional(texts('Only events of these EventTypes, without case.')),
          resources: v.exactOptional(texts('Only events whose Resources all match one of these globs, without case.')),
        }),
        v.description('What this approver may approve. Default: everything.'),
      ),
    ),
  }),
  v.check(({ token, tokens }) => token === undefined || tokens === undefined, 'needs either token or tokens, not both'),
  v.transform(({ scope, admin, certificate, subject, ...given }) => ({
    ...tokensOf(given),
    certificate: certificate ?? null,
    subject: subject ?? null,
    scope: scope ?? {},
    admin,
  })),
);

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
    readers: v.optional(v.pipe(v.record(name(), reader), v.description('By name: who may read /v1/*, not approve.')), {}),
    health: v.exactOptional(address('Serves healthz, readyz and metrics alone, in plain HTTP, on a second address. Default: none.')),
    allowInsecure: v.optional(v.pipe(v.boolean(), v.description('true: listen may lie beyond loopback without tls.')), false),
  }),
  v.transform(({ tls, health, ...rest }) => ({ ...rest, tls: tls ?? null, health: health ?? null })),
  v.description('The HTTP interface.'),
);

export type HttpSection = Readonly<v.InferOutput<typeof httpSection>>;

export const approvalsSection = v.pipe(
  v.strictObject({
    approvers: v.optional(
      v.pipe(
        v.record(name(), approver),
        v.description(
          'By name: who may approve, by a token, a certificate or a JWT through POST /v1/approvals, or through a source. Without one it answers 403.',
        ),
      ),
      {},
    ),
    required: v.optional(
      required('Whose yes is needed: any one, all whose scope touches the event, so many, or all those in a list of names.'),
      'any',
    ),
    policy: v.exactOptional(policy),
    group: v.optional(group, {}),
    dryRun: v.optional(v.pipe(v.boolean(), v.description('true: everything but the StartRequest and approval.submitted.')), false),
    jwt: v.exactOptional(jwtSection),
    // Which keys a source has depends on its type: sources.ts reads them.
    sources: v.exactOptional(v.unknown()),
  }),
  v.transform(({ sources: _, policy: rules, jwt, ...rest }) => ({ ...rest, policy: rules ?? null, jwt: jwt ?? null })),
  v.description('Who may approve, and how many must.'),
);

export type ApprovalsSection = Readonly<v.InferOutput<typeof approvalsSection>>;
