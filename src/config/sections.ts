// The sections of the configuration, sinks aside: schema and types.
import * as v from 'valibot';
import { group, policy, required, scope } from '../approvals/rules/options.ts';
import { configuredCredentials, credentialEntries, hasOneKindOfTokens, jwtSection, ONE_KIND_OF_TOKENS } from '../auth/options.ts';
import { cloudeventsSection } from '../cloudevents/options.ts';
import { publishSection } from '../delivery/options.ts';
import { httpSection } from '../http/options.ts';
import { metadataSection } from '../metadata/options.ts';
import { storeSection } from '../outbox/options.ts';
import { name, type OptionsOf } from '../schema/pieces.ts';
import { logSection } from '../telemetry/options.ts';

const approver = v.pipe(
  v.strictObject({
    ...credentialEntries,
    admin: v.optional(v.pipe(v.boolean(), v.description('true: may release the holds of others, and reload the configuration.')), false),
    scope: v.exactOptional(scope),
  }),
  v.check((given) => hasOneKindOfTokens(given), ONE_KIND_OF_TOKENS),
  v.transform(({ scope: own, admin, ...proofs }) => ({ ...configuredCredentials(proofs), scope: own ?? {}, admin })),
);

const approvalsSection = v.pipe(
  v.strictObject({
    approvers: v.optional(
      v.pipe(
        v.record(name(), approver),
        v.description(
          'By name: who may approve, by a token, a certificate or a JWT through POST /v1/approvals, through a source, or by a sink that speaks for it. Without one it answers 403.',
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

/** In the order in which they are documented. */
export const SECTIONS = {
  metadata: metadataSection,
  cloudevents: cloudeventsSection,
  publish: publishSection,
  store: storeSection,
  http: httpSection,
  approvals: approvalsSection,
  log: logSection,
} as const;

/** What is made of each. */
export type Sections = { readonly [Key in keyof typeof SECTIONS]: OptionsOf<(typeof SECTIONS)[Key]> };
