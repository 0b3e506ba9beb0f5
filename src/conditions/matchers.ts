// Conditions and an event → which it meets; for sink filters, approvers' scopes, policy rules.
import picomatch from 'picomatch';
import type { ScheduledEvent } from '../model/events.ts';
import type { ConditionName, EventConditions } from './options.ts';

/** How many of the names in Resources have to match: `every` is of at least one. */
export type Reach = 'any' | 'every';

/** One condition that was given. */
export interface EventMatcher {
  readonly condition: ConditionName;
  /** `nowMs` is wall time. */
  matches(event: ScheduledEvent, nowMs: number): boolean;
}

/** A matcher for each condition that asks something, in the order of `EventConditions`; none matches everything. */
export function eventMatchers(
  { impacts, initiators, resources, notice, duration }: EventConditions,
  reach: Reach,
): readonly EventMatcher[] {
  const matchers: EventMatcher[] = [];
  if (impacts) {
    const isImpact = oneOf(impacts);
    matchers.push({ condition: 'impacts', matches: ({ eventType }) => isImpact(eventType) });
  }
  if (initiators) {
    const isInitiator = oneOf(initiators);
    matchers.push({ condition: 'initiators', matches: ({ eventSource }) => isInitiator(eventSource) });
  }
  if (resources) {
    const match = compileGlobs(resources)[reach];
    matchers.push({ condition: 'resources', matches: (event) => match(event.resources) });
  }
  if (notice?.aboveMs !== undefined || notice?.belowMs !== undefined) {
    const { aboveMs = Number.NEGATIVE_INFINITY, belowMs = Number.POSITIVE_INFINITY } = notice;
    const matches = (event: ScheduledEvent, nowMs: number) => isBetween(noticeMs(event, nowMs), aboveMs, belowMs);
    matchers.push({ condition: 'notice', matches });
  }
  if (duration?.minMs !== undefined || duration?.belowMs !== undefined) {
    const { minMs = 0, belowMs = Number.POSITIVE_INFINITY } = duration;
    const matches = ({ durationInSeconds: seconds }: ScheduledEvent) => seconds >= 0 && seconds * 1000 >= minMs && seconds * 1000 < belowMs;
    matchers.push({ condition: 'duration', matches });
  }
  return matchers;
}

/** Whether a text is one of these, without case. */
export function oneOf(texts: readonly string[]): (text: string) => boolean {
  const wanted = new Set(texts.map((text) => text.toLowerCase()));
  return (text) => wanted.has(text.toLowerCase());
}

/** Whether any of some names, or every one of at least one, matches one of these globs, without case. */
export function compileGlobs(globs: readonly string[]): Readonly<Record<Reach, (names: readonly string[]) => boolean>> {
  // A name is no path: with `bash`, a star takes slashes too.
  const matches = picomatch([...globs], { nocase: true, dot: true, bash: true });
  return {
    any: (names) => names.some((name) => matches(name)),
    every: (names) => names.length > 0 && names.every((name) => matches(name)),
  };
}

/** Time left until NotBefore; 0 where it has passed or is not given. */
export function noticeMs({ notBefore }: Pick<ScheduledEvent, 'notBefore'>, nowMs: number): number {
  return notBefore === null ? 0 : Math.max(0, Date.parse(notBefore) - nowMs);
}

function isBetween(value: number, above: number, below: number): boolean {
  return value > above && value < below;
}
