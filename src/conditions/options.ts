// Filters of sinks and rules of the policy → conditions on events: schema and type.
import * as v from 'valibot';
import { durationBetween, type OptionsOf, texts, withoutFault } from '../schema/pieces.ts';
import { globFault, LONGEST_GLOB } from './globs.ts';

/**
 * The maximum number of globs in a list. Matching them with a thousand names takes less than half a second, for any
 * content.
 */
const MOST_GLOBS = 1000;

/** @param empty the fault of an empty list */
export function globs(description: string, empty = 'must not be empty: leave the key out to set no condition') {
  const length = `must have 1 to ${LONGEST_GLOB} characters`;
  const glob = v.pipe(v.string(), v.minLength(1, length), v.maxLength(LONGEST_GLOB, length), withoutFault(globFault));
  return v.pipe(
    v.array(glob),
    v.minLength(1, empty),
    v.maxLength(MOST_GLOBS, `must not have more than ${MOST_GLOBS} globs: use * and ? for names that are alike`),
    v.description(description),
  );
}

/** The time until NotBefore. @param description says when it is evaluated */
function notice(description: string) {
  return v.pipe(
    v.strictObject({
      above: v.exactOptional(durationBetween('0s', '365d', 'The time until NotBefore is longer than this.')),
      below: v.exactOptional(durationBetween('0s', '365d', 'The time until NotBefore is shorter than this.')),
    }),
    v.check(
      ({ above, below }) => above === undefined || below === undefined || above < below,
      'lets nothing pass: above must be less than below',
    ),
    v.check(({ below }) => below !== 0, 'lets nothing pass: below must be more than 0s'),
    v.transform(({ above, below }): { aboveMs?: number; belowMs?: number } => ({
      ...(above === undefined ? {} : { aboveMs: above }),
      ...(below === undefined ? {} : { belowMs: below }),
    })),
    v.description(description),
  );
}

const duration = v.pipe(
  v.strictObject({
    min: v.exactOptional(durationBetween('0s', '365d', 'It is at least so long.')),
    below: v.exactOptional(durationBetween('0s', '365d', 'It is shorter than this.')),
  }),
  v.check(
    ({ min, below }) => min !== undefined || below !== undefined,
    'has no limit: give min or below, or leave the key out',
  ),
  v.check(
    ({ min = 0, below = Number.POSITIVE_INFINITY }) => min < below,
    'lets nothing pass: min must be less than below',
  ),
  v.transform(({ min, below }): { minMs?: number; belowMs?: number } => ({
    ...(min === undefined ? {} : { minMs: min }),
    ...(below === undefined ? {} : { belowMs: below }),
  })),
  v.description('The expected length of the interruption. An unknown length (-1) never matches.'),
);

/** The texts that differ between the two sections with conditions. */
interface ConditionWords {
  readonly resources: string;
  readonly notice: string;
}

/** As keys of a strict object. */
export function filterConditions(words: ConditionWords) {
  return {
    impacts: v.exactOptional(texts('EventTypes, such as Reboot, without case.')),
    initiators: v.exactOptional(texts('EventSources, such as Platform, without case.')),
    resources: v.exactOptional(globs(words.resources)),
    notice: v.exactOptional(notice(words.notice)),
  };
}

/** These conditions, and those that only a rule may have. */
export function ruleConditions(words: ConditionWords) {
  return { ...filterConditions(words), duration: v.exactOptional(duration) };
}

/** All given conditions must match. A condition without a limit has no effect. */
export type EventConditions = OptionsOf<v.StrictObjectSchema<ReturnType<typeof ruleConditions>, undefined>>;

export type ConditionName = keyof EventConditions;
