// The key of `approvals` that says which machine of a group posts: schema and type.
import * as v from 'valibot';
import { durationBetween } from './fields.ts';

const members = v.pipe(
  v.array(v.pipe(v.string(), v.minLength(1))),
  v.minLength(1, 'must not be empty: leave the key out where only the machines that an event names submit'),
  v.check((names) => new Set(names.map((name) => name.toLowerCase())).size === names.length, 'names a machine twice, without case'),
  v.description('Names of machines that submit too, behind those that an event names, in this order. Only with submit: leader.'),
);

export const group = v.pipe(
  v.strictObject({
    submit: v.optional(
      v.pipe(
        v.picklist(['every', 'leader']),
        v.description('leader: one machine after the other submits, while the event is still Scheduled. every: each one, at once.'),
      ),
      'every',
    ),
    failoverAfter: v.optional(
      durationBetween('100ms', '1h', 'With submit: leader, how long each machine waits for the one before it.'),
      '10s',
    ),
    members: v.exactOptional(members),
  }),
  v.forward(
    v.check((given) => given.members === undefined || given.submit === 'leader', 'is only for submit: leader'),
    ['members'],
  ),
  v.transform(({ submit, failoverAfter, members: names = [] }) => ({ submit, failoverAfterMs: failoverAfter, members: names })),
  v.description('Which machine of a group submits what a policy, or a source that each bridge reads, decides.'),
);
