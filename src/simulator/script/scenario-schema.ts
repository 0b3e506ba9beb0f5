// The keys of a scenario file → the parts of a script.
import * as v from 'valibot';
import {
  eventEntries,
  hasOneNotBefore,
  nonEmptyText,
  ONE_NOT_BEFORE,
  span,
  toEventFields,
  wholeNumberFrom,
} from '../control/event-fields.ts';
import { faultOrder, faultOrders } from '../control/fault-fields.ts';
import { MOST_MACHINES } from '../events/machine.ts';
import { hostEntries } from '../metadata/metadata-versions.ts';
import type { Action, ScriptStep } from './script.ts';

const MOST = 10_000;

/** A name, `vm:N` or `fd:N`. */
const machine = v.pipe(
  nonEmptyText,
  v.check(
    (text) => !/^(vm|fd):/.test(text) || /^(vm:\d{1,4}|fd:[0-4])$/.test(text),
    'must be a name, vm:N for machine N of the group, or fd:0 to fd:4 for all machines of a fault domain',
  ),
);

const schedule = v.pipe(
  v.strictObject({
    as: v.exactOptional(nonEmptyText),
    ...eventEntries(machine),
    count: v.exactOptional(v.pipe(wholeNumberFrom(1), v.maxValue(MOST))),
  }),
  v.check((keys) => hasOneNotBefore(keys), ONE_NOT_BEFORE),
  v.transform(
    ({ as, count: howMany, ...keys }): Action => ({
      kind: 'schedule',
      fields: toEventFields(keys),
      ...(as === undefined ? {} : { as }),
      ...(howMany === undefined ? {} : { count: howMany }),
    }),
  ),
);

const { EventId: _, ...changeable } = eventEntries(machine);

const change = v.pipe(
  v.strictObject({ event: nonEmptyText, ...changeable }),
  v.check((keys) => hasOneNotBefore(keys), ONE_NOT_BEFORE),
  v.transform(({ event, ...keys }): Action => ({ kind: 'change', event, fields: toEventFields(keys) })),
);

function move(kind: 'start' | 'end' | 'cancel') {
  return v.pipe(
    nonEmptyText,
    v.transform((event): Action => ({ kind, event })),
  );
}

const fault = v.pipe(
  faultOrder(machine),
  v.transform((orders): Action => ({ kind: 'fault', orders })),
);

const faults = v.pipe(
  faultOrders(machine),
  v.transform((orders): Action => ({ kind: 'fault', orders })),
);

const incarnation = v.pipe(
  v.union(
    [v.literal('restart'), v.strictObject({ skip: v.pipe(wholeNumberFrom(1), v.maxValue(1_000_000)) })],
    'must be restart, or { skip: N } with N from 1 to 1000000',
  ),
  v.transform((order): Action => ({ kind: 'incarnation', skip: order === 'restart' ? order : order.skip })),
);

const switchOff = v.pipe(
  v.literal(true, 'must be true'),
  v.transform((): Action => ({ kind: 'switchOff' })),
);

/** The actions by key; a step has exactly one. */
const ACTIONS = {
  schedule: v.exactOptional(schedule),
  change: v.exactOptional(change),
  start: v.exactOptional(move('start')),
  end: v.exactOptional(move('end')),
  cancel: v.exactOptional(move('cancel')),
  fault: v.exactOptional(fault),
  faults: v.exactOptional(faults),
  incarnation: v.exactOptional(incarnation),
  switchOff: v.exactOptional(switchOff),
};

export const ACTION_KEYS: readonly string[] = Object.keys(ACTIONS);

const step = v.pipe(
  v.strictObject({ after: v.optional(span, '0s'), ...ACTIONS }),
  v.transform(({ after, ...actions }): ScriptStep[] =>
    Object.values(actions).map((action) => ({ afterMs: after, action })),
  ),
);

const group = v.strictObject({
  name: v.exactOptional(
    v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must have 1 to 63 letters, digits, dots, _ or -')),
  ),
  vms: v.exactOptional(v.pipe(wholeNumberFrom(1), v.maxValue(MOST_MACHINES))),
  gpu: v.exactOptional(v.boolean()),
  ...hostEntries,
});

const purpose = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1),
  v.maxLength(200, 'must have at most 200 characters'),
  v.check((text) => !/[\r\n]/.test(text), 'must be one line'),
);

/** A whole file. */
export const scenarioSchema = v.pipe(
  v.strictObject({
    purpose,
    group: v.exactOptional(group),
    every: v.exactOptional(
      v.pipe(
        span,
        v.check((ms) => ms >= 1000, 'must be at least 1s'),
      ),
    ),
    steps: v.pipe(v.array(step), v.minLength(1), v.maxLength(MOST, `must have at most ${MOST} members`)),
  }),
  v.transform(({ every, steps, ...rest }) => ({
    ...rest,
    steps: steps.flat(),
    ...(every === undefined ? {} : { everyMs: every }),
  })),
);
