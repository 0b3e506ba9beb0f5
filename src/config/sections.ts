// The schemas of all stages → the sections of the configuration except sinks: schemas and types.
import * as v from 'valibot';
import { group, policy, required, scope } from '../approvals/rules/options.ts';
import { budgets, windows } from '../approvals/rules/window-options.ts';
import {
  configuredCredentials,
  credentialEntries,
  hasOneKindOfTokens,
  jwtSection,
  ONE_KIND_OF_TOKENS,
} from '../auth/options.ts';
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
    admin: v.optional(
      v.pipe(v.boolean(), v.description('true: may release holds of other approvers, and reload the configuration.')),
      false,
    ),
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
          'By name: who may approve, with a token, a certificate or a JWT at POST /v1/approvals, through a source, or through a sink with "approve". Without approvers it answers 403.',
        ),
      ),
      {},
    ),
    required: v.optional(
      required(
        'Whose approval is needed: any approver, all with a scope that touches the event, a number of approvers, or all names of a list.',
      ),
      'any',
    ),
    windows: v.optional(windows, {}),
    budgets: v.optional(budgets, {}),
    policy: v.exactOptional(policy),
    group: v.optional(group, {}),
    dryRun: v.optional(
      v.pipe(
        v.boolean(),
        v.description('true: does everything except sending StartRequests and publishing approval.submitted.'),
      ),
      false,
    ),
    jwt: v.exactOptional(jwtSection),
    // The keys of a source depend on its type: sources.ts reads them.
    sources: v.exactOptional(v.unknown()),
  }),
  v.transform(({ sources: _, policy: rules, jwt, ...rest }) => ({ ...rest, policy: rules ?? null, jwt: jwt ?? null })),
  v.description('Who may approve, and how many must.'),
);

/** In the order of the documentation. */
export const SECTIONS = {
  metadata: metadataSection,
  cloudevents: cloudeventsSection,
  publish: publishSection,
  store: storeSection,
  http: httpSection,
  approvals: approvalsSection,
  log: logSection,
} as const;

/** The output of each schema. */
export type Sections = { readonly [Key in keyof typeof SECTIONS]: OptionsOf<(typeof SECTIONS)[Key]> };
