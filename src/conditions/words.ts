// A condition and an event → descriptions of the condition and of the event's value. Pure.
import { formatDuration } from '../formats/durations.ts';
import type { ScheduledEvent } from '../model/events.ts';
import type { Reach } from './globs.ts';
import { noticeMs } from './matchers.ts';
import type { ConditionName, EventConditions } from './options.ts';

/** `Freeze or Reboot`, `less than 9s until NotBefore`. */
export const askedFor: Readonly<Record<ConditionName, (conditions: EventConditions, reach: Reach) => string>> = {
  impacts: ({ impacts }) => alternatives(impacts),
  initiators: ({ initiators }) => alternatives(initiators),
  resources: ({ resources }, reach) =>
    `${reach === 'every' ? 'every name' : 'a name'} to match ${alternatives(resources)}`,
  notice: ({ notice = {} }) => noticeAsked(notice),
  duration: ({ duration = {} }) => durationAsked(duration),
};

/** `it is Reboot`, `there is 15m left`. */
export const foundIn: Readonly<Record<ConditionName, (event: ScheduledEvent, nowMs: number) => string>> = {
  impacts: ({ eventType }) => `it is ${eventType || 'of no type'}`,
  initiators: ({ eventSource }) => `it is from ${eventSource || 'nobody'}`,
  resources: ({ resources }) => `it names ${resources.join(', ') || 'nobody'}`,
  notice: (event, nowMs) => `there is ${spanOf(noticeMs(event, nowMs))}`,
  duration: ({ durationInSeconds: seconds }) => (seconds < 0 ? 'it is unknown' : `it is ${seconds}s`),
};

function alternatives(texts: readonly string[] = []): string {
  return texts.join(' or ');
}

function noticeAsked({ aboveMs, belowMs }: NonNullable<EventConditions['notice']>): string {
  const limits = [limit('more than', aboveMs), limit('less than', belowMs)].filter((text) => text !== '');
  return `${limits.join(' and ')} until NotBefore`;
}

function durationAsked({ minMs, belowMs }: NonNullable<EventConditions['duration']>): string {
  const limits = [limit('at least', minMs), limit('less than', belowMs)].filter((text) => text !== '');
  return `an interruption of ${limits.join(' and ')}`;
}

function limit(words: string, ms: number | undefined): string {
  return ms === undefined ? '' : `${words} ${ms === 0 ? '0s' : formatDuration(ms)}`;
}

/** In whole seconds, because the fraction depends on the moment. */
function spanOf(ms: number): string {
  let seconds = Math.ceil(ms / 1000);
  if (seconds === 0) return 'no time left';
  const parts: string[] = [];
  for (const [unit, length] of UNITS) {
    const count = Math.floor(seconds / length);
    if (count > 0) parts.push(`${count}${unit}`);
    seconds -= count * length;
  }
  return `${parts.join(' ')} left`;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const;
