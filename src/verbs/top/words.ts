// An event of the fleet → what it is, when it starts and what happens next, in words.
import { toRfc3339Seconds } from '../../formats/dates.ts';
import { spokenTime } from '../../formats/durations.ts';
import { isDrill } from '../../model/ids.ts';
import { type NextStep, nextStepLine } from '../../model/next-step.ts';
import { type FleetEvent, isRunning } from './fleet-event.ts';
import type { ListedEvent } from './listed-event.ts';
import type { WatchedBridge } from './watched-bridge.ts';

export function typeWords({ eventType, key }: ListedEvent): string {
  return isDrill(key) ? `${eventType} (a drill)` : eventType;
}

/** `running`, `in 14m 3s`, `due for 8s`, `at any time`. */
export function whenWords(event: ListedEvent, wallMs: number): string {
  if (isRunning(event)) return 'RUNNING';
  if (event.notBeforeMs === null) return 'any time';
  const seconds = Math.round((event.notBeforeMs - wallMs) / 1000);
  return seconds > 0 ? `in ${spokenTime(seconds)}` : `due ${spokenTime(-seconds)}`;
}

/** Returns what happens if nobody acts, as `status` and console say it. */
export function nextLine(event: ListedEvent, { isDryRun, isBlind }: WatchedBridge): string {
  const { nextStep, eventStatus } = event;
  if (nextStep === null || eventStatus === 'Started') return nextWords(event);
  return nextStepLine({ ...event, nextStep }, { dryRun: isDryRun, isBlind });
}

/** Returns the same for a column: first what holds it and whom it waits for. */
export function nextWords(event: ListedEvent): string {
  if (isRunning(event)) return startedWords(event);
  const { approval, nextStep, rule, heldBackBy } = event;
  const holders = [...new Set(approval?.holds.map(({ approver }) => approver) ?? [])];
  // Approvers may approve before the window opens, and need not.
  const isOfRule = rule?.then === 'approve' && nextStep?.action === 'approve';
  const waitingFor = isOfRule ? [] : (rule?.waitingFor ?? approval?.waitingFor ?? []);
  const isUnusual = approval !== null && !['waiting', 'held'].includes(approval.state);
  const parts = [
    ...(holders.length > 0 ? [`HELD by ${holders.join(', ')}`] : []),
    ...(waitingFor.length > 0 ? [`waits for ${waitingFor.join(', ')}`] : []),
    ...(rule?.window && !isUnusual && heldBackBy.length === 0 ? [`window ${rule.window.name}`] : []),
    ...(heldBackBy.length > 0 ? [`held back by ${heldBackBy.join(', ')}`] : []),
    ...(isUnusual ? [`approval ${approval.state}`] : []),
    ...(rule?.then === 'never' ? ['never approved here'] : []),
    ...(nextStep === null ? [] : nextStepWords(nextStep, rule?.window != null)),
  ];
  return parts.length === 0 ? 'nobody is asked' : parts.join('; ');
}

function startedWords({ approval, durationInSeconds }: ListedEvent): string {
  const by =
    approval !== null && approval.approvedBy.length > 0 ? `; approved by ${approval.approvedBy.join(', ')}` : '';
  return `${durationWords(durationInSeconds)}${by}`;
}

export function durationWords(seconds: number): string {
  return seconds < 0 ? 'duration unknown' : seconds === 0 ? 'no interruption' : `interrupts for ${spokenTime(seconds)}`;
}

/** A window may open days ahead, so its time has the date. */
function nextStepWords({ action, at, by }: NextStep, isInWindow: boolean): readonly string[] {
  const time = at === null ? '' : ` ${isInWindow ? dateWords(Date.parse(at)) : clockWords(Date.parse(at))}`;
  if (action === 'approve') return [by === null ? `approved: submits${time}` : `${by} approves${time}`];
  // WHEN has the time.
  return action === 'start' ? ['Azure starts it'] : [];
}

/** The time of day in UTC. */
export function clockWords(wallMs: number): string {
  return `${toRfc3339Seconds(wallMs).slice(11, 19)}Z`;
}

/** `11-28 21:00Z` */
function dateWords(wallMs: number): string {
  return `${toRfc3339Seconds(wallMs).slice(5, 16).replace('T', ' ')}Z`;
}

/** More names than these are counted in a question. */
const MOST_NAMES = 8;

/** Names an event for a question: type, machines and NotBefore. */
export function eventWords({ event }: FleetEvent, wallMs: number): string {
  const { resources, notBeforeMs } = event;
  const count = resources.length === 1 ? '1 machine' : `${resources.length} machines`;
  const more = resources.length > MOST_NAMES ? ' and others' : '';
  const names =
    resources.length === 0 ? 'no machine named' : `${resources.slice(0, MOST_NAMES).join(', ')}${more} (${count})`;
  const notBefore =
    notBeforeMs === null ? 'no NotBefore' : `NotBefore ${toRfc3339Seconds(notBeforeMs)} (${whenWords(event, wallMs)})`;
  return `${typeWords(event)} of ${names}, ${notBefore}`;
}
