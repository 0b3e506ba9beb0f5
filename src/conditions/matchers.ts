// Conditions and an event → whether it meets them; for filters, scopes and policy rules.
import type { ScheduledEvent } from '../model/events.ts';
import { compileGlobs, type Reach } from './globs.ts';
import type { ConditionName, EventConditions } from './options.ts';

/** One configured condition. */
export interface EventMatcher {
  readonly condition: ConditionName;
  /** `nowMs` is wall time. */
  matches(event: ScheduledEvent, nowMs: number): boolean;
}

/**
 * The comparison of each condition; undefined if it has no limit. A condition without an entry here does not compile,
 * because it would match all.
 */
const MATCHES: Readonly<
  Record<ConditionName, (conditions: EventConditions, reach: Reach) => EventMatcher['matches'] | undefined>
> = {
  impacts: ({ impacts }) => {
    const isImpact = impacts && oneOf(impacts);
    return isImpact && (({ eventType }) => isImpact(eventType));
  },
  initiators: ({ initiators }) => {
    const isInitiator = initiators && oneOf(initiators);
    return isInitiator && (({ eventSource }) => isInitiator(eventSource));
  },
  resources: ({ resources }, reach) => {
    const match = resources && compileGlobs(resources)[reach];
    return match && ((event) => match(event.resources));
  },
  notice: ({ notice: { aboveMs, belowMs } = {} }) => {
    if (aboveMs === undefined && belowMs === undefined) return undefined;
    const [least, limit] = [aboveMs ?? Number.NEGATIVE_INFINITY, belowMs ?? Number.POSITIVE_INFINITY];
    return (event, nowMs) => {
      const leftMs = noticeMs(event, nowMs);
      return leftMs > least && leftMs < limit;
    };
  },
  duration: ({ duration: { minMs, belowMs } = {} }) => {
    if (minMs === undefined && belowMs === undefined) return undefined;
    const [least, limit] = [minMs ?? 0, belowMs ?? Number.POSITIVE_INFINITY];
    return ({ durationInSeconds: seconds }) => seconds >= 0 && seconds * 1000 >= least && seconds * 1000 < limit;
  },
};

const NAMES = Object.keys(MATCHES) as ConditionName[];

/** Returns a matcher for each condition with a limit. Without any, every event matches. */
export function eventMatchers(conditions: EventConditions, reach: Reach): readonly EventMatcher[] {
  return NAMES.flatMap((condition) => {
    const matches = MATCHES[condition](conditions, reach);
    return matches ? [{ condition, matches }] : [];
  });
}

/** Returns whether a text is one of these, ignoring case. */
export function oneOf(texts: readonly string[]): (text: string) => boolean {
  const wanted = new Set(texts.map((text) => text.toLowerCase()));
  return (text) => wanted.has(text.toLowerCase());
}

/** Returns the time until NotBefore; 0 if it has passed or is missing. */
export function noticeMs({ notBefore }: Pick<ScheduledEvent, 'notBefore'>, nowMs: number): number {
  return notBefore === null ? 0 : Math.max(0, Date.parse(notBefore) - nowMs);
}
