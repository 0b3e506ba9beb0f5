// The conditions on events that filters and rules of the policy share: pieces of schema.
import * as v from 'valibot';
import { durationBetween, texts } from './fields.ts';

/** Conditions on type and source, as keys of a strict object. */
export const kindConditions = {
  impacts: v.exactOptional(texts('EventTypes, such as Reboot, without case.')),
  initiators: v.exactOptional(texts('EventSources, such as Platform, without case.')),
};

/** How far ahead NotBefore lies; `description` says when that is judged. */
export function notice(description: string) {
  return v.pipe(
    v.strictObject({
      above: v.exactOptional(durationBetween('0s', '365d', 'More time than this lies before NotBefore.')),
      below: v.exactOptional(durationBetween('0s', '365d', 'Less time than this lies before NotBefore.')),
    }),
    v.check(
      ({ above, below }) => above === undefined || below === undefined || above < below,
      'lets nothing pass: above must be less than below',
    ),
    v.check(({ below }) => below !== 0, 'lets nothing pass: below must be more than 0s'),
    v.transform(({ above, below }) => ({
      ...(above === undefined ? {} : { aboveMs: above }),
      ...(below === undefined ? {} : { belowMs: below }),
    })),
    v.description(description),
  );
}

/** How long an event is expected to interrupt. */
export const duration = v.pipe(
  v.strictObject({
    min: v.exactOptional(durationBetween('0s', '365d', 'It is at least so long.')),
    below: v.exactOptional(durationBetween('0s', '365d', 'It is shorter than this.')),
  }),
  v.check(({ min, below }) => min !== undefined || below !== undefined, 'has no limit: give min or below, or leave the key out'),
  v.check(({ min = 0, below = Number.POSITIVE_INFINITY }) => min < below, 'lets nothing pass: min must be less than below'),
  v.transform(({ min, below }) => ({
    ...(min === undefined ? {} : { minMs: min }),
    ...(below === undefined ? {} : { belowMs: below }),
  })),
  v.description('How long the interruption is expected to be. One of unknown length (-1) matches none.'),
);
