// What every sink takes, whatever its type: schema and types of retry and filter. The rest of a sink's keys are its adapter's own.
import * as v from 'valibot';
import type { AdapterDefinition } from '../../adapters/adapter.ts';
import { CHANGE_NAMES } from '../model/change-names.ts';
import { kindConditions, notice } from './event-conditions.ts';
import { durationBetween, texts } from './fields.ts';

const filter = v.pipe(
  v.strictObject({
    changes: v.exactOptional(
      v.pipe(
        v.array(v.picklist(CHANGE_NAMES)),
        v.minLength(1, 'must not be empty: leave the key out to set no condition'),
        v.description('CloudEvent types without prefix and version, such as scheduled or approval.failed.'),
      ),
    ),
    ...kindConditions,
    resources: v.exactOptional(texts('Globs; one name in Resources that matches one of them is enough. Without case.')),
    notice: v.exactOptional(notice('How far ahead NotBefore lies when the change is seen.')),
  }),
  v.description('What this sink is sent: all conditions given must match. Default: everything.'),
);

/** Of every sink, beside `type` and the adapter's own options. */
export const sinkCommon = v.strictObject({
  retry: v.optional(
    v.pipe(
      v.strictObject({
        maxAge: v.optional(durationBetween('100ms', '365d', 'How long after it was queued a delivery is still tried again.'), '24h'),
      }),
      v.transform(({ maxAge }) => ({ maxAgeMs: maxAge })),
      v.description('When a delivery is given up.'),
    ),
    {},
  ),
  filter: v.optional(filter, {}),
});

export type SinkCommon = v.InferOutput<typeof sinkCommon>;
export type SinkFilter = SinkCommon['filter'];

/** One sink, ready for `adapter.create(options, …)`. */
export interface SinkConfig {
  readonly type: string;
  readonly adapter: AdapterDefinition<unknown>;
  /** What the adapter's schema made of its own keys; secrets are open. */
  readonly options: unknown;
  readonly retry: SinkCommon['retry'];
  readonly filter: SinkFilter;
  /** SHA-256 in hex over all that is configured of it and the values of its secrets: another one means another configuration. */
  readonly fingerprint: string;
}
