// Events and faults of the simulator's state → the texts of the page.
import { changeSummary, timeAndDistance, titleOf } from './parts/text.js';

export { clockTime, impact, SIGNS } from './parts/text.js';

/** `Reboot of sim_0, sim_1` */
export const nameOf = ({ EventType, Resources }) => titleOf(EventType, Resources);

/** Scheduled, Started, or how the event ended. */
export const stateOf = (event) => event.end ?? event.EventStatus;

/** Describes when an event starts or ends, or how it ended. */
export function course(event, nowMs) {
  const at = (when) => timeAndDistance(when, nowMs);
  if (event.endedAt) return `${event.end} ${at(event.endedAt)}`;
  if (event.EventStatus === 'Started') return event.goneAt ? `Ends ${at(event.goneAt)}` : 'Ends only by an order';
  const notBefore = event.notBeforeAt ? `NotBefore ${at(event.notBeforeAt)}` : 'No NotBefore';
  if (event.approvedAt)
    return `Approved; waits for other tenants${event.startsAt ? ` until ${at(event.startsAt)}` : ''}`;
  if (!event.startsAt) return `${notBefore}; does not start by itself`;
  return Date.parse(event.startsAt) > Date.parse(event.notBeforeAt)
    ? `${notBefore}; waits for other tenants until ${at(event.startsAt)}`
    : notBefore;
}

/** Describes the active fault and the answers that it applies to. */
export function faultText({ left, times: _, vm, method, path, apiVersion, for: period, then = [], ...order }) {
  const answers = left === 1 ? 'The next answer' : left ? `The next ${left} answers` : 'Answers';
  const selectors = [
    method && `to ${method}`,
    path && `at ${path}`,
    apiVersion && `in ${apiVersion.join(' or ')}`,
    vm && `of ${vm}`,
  ];
  const scope = [answers, ...selectors, period && `within ${period}`].filter(Boolean).join(' ');
  const effects = Object.entries(order).map(faultPart).join(', ') || 'unchanged';
  return `${scope}: ${effects}${then.length > 0 ? `; then ${then.length} more` : ''}`;
}

function faultPart([key, value]) {
  if (value === true) return key;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `${key} ${text === '' ? 'empty' : text.length > 60 ? `${text.slice(0, 60)}…` : text}`;
}

/** Describes the changes between two states for the status line; counts them if there are many. */
export function changes(before, after) {
  const known = new Map(before.events.map((event) => [event.EventId, event]));
  const found = [];
  for (const event of after.events) {
    const old = known.get(event.EventId);
    known.delete(event.EventId);
    if (!old) found.push([event, event.EventStatus === 'Started' ? 'started without notice' : 'scheduled']);
    else if (old.EventStatus !== event.EventStatus) found.push([event, 'started']);
    else if (!old.approvedAt && event.approvedAt) found.push([event, 'approved']);
    else if (old.NotBefore !== event.NotBefore) found.push([event, 'moved']);
  }
  const ends = new Map(after.past.map((event) => [event.EventId, event.end]));
  for (const event of known.values()) found.push([event, ends.get(event.EventId) ?? 'over']);
  return changeSummary(found.map(([event, what]) => [nameOf(event), what]));
}
