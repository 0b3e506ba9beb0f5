// What every sink takes: retry, filter and publish → schema and types.
import * as v from 'valibot';
import { filterConditions } from '../conditions/options.ts';
import { CHANGE_NAMES } from '../model/change-names.ts';
import { durationBetween, type OptionsOf } from '../schema/pieces.ts';

const filter = v.pipe(
  v.strictObject({
    changes: v.exactOptional(
      v.pipe(
        v.array(v.picklist(CHANGE_NAMES)),
        v.minLength(1, 'must not be empty: remove the key to set no condition'),
        v.description('CloudEvent types without prefix and version, such as scheduled or approval.failed.'),
      ),
    ),
    ...filterConditions({
      resources: 'Globs; one name in Resources that matches one of them is enough. Without case.',
      notice: 'How far ahead NotBefore lies when the change is seen.',
    }),
  }),
  v.description('What this sink is sent: all conditions given must match. Default: everything.'),
);

/** Of every sink, in addition to `type` and the adapter's own options. */
export const sinkCommon = v.strictObject({
  retry: v.optional(
    v.pipe(
      v.strictObject({
        maxAge: v.optional(
          durationBetween('100ms', '365d', 'How long after it was queued a delivery is still tried again.'),
          '24h',
        ),
      }),
      v.transform(({ maxAge }) => ({ maxAgeMs: maxAge })),
      v.description('When a delivery is given up.'),
    ),
    {},
  ),
  filter: v.optional(filter, {}),
});

export type SinkCommon = OptionsOf<typeof sinkCommon>;
export type SinkFilter = SinkCommon['filter'];

export const publishSection = v.pipe(
  v.strictObject({
    resources: v.optional(
      v.pipe(
        v.picklist(['all', 'own']),
        v.description(
          '"own": only events that name this VM, or named it earlier in this occurrence. "all": those of its siblings too.',
        ),
      ),
      'all',
    ),
  }),
  v.description('Which events are published.'),
);
