// The simulator's state → the machines and bars of its time line.
import { drawTimeLine } from './parts/time-line.js';
import { course, nameOf, SIGNS, stateOf } from './text.js';

/** What is due first is drawn first; what never is comes last, and what is past behind it. */
export function drawEventsInTime({ now, vms, events, past }) {
  const nowMs = Date.parse(now);
  const bars = [...events.toSorted((a, b) => dueMs(a) - dueMs(b)), ...past.toReversed()].map((event) => barOf(event, nowMs));
  const machines = vms.map(({ name, url, faultDomain }) => ({ name, url, note: url?.startsWith('http') ? `FD ${faultDomain}` : '' }));
  drawTimeLine(nowMs, machines, bars);
}

/** When it starts or goes. */
function dueMs({ startsAt, goneAt }) {
  return Date.parse(goneAt ?? startsAt ?? '9999-12-31');
}

/** From scheduled to gone, as far as that is known. */
function barOf(event, nowMs) {
  const { scheduledAt, startedAt, startsAt, endedAt, goneAt, notBeforeAt } = event;
  const notBeforeMs = Date.parse(notBeforeAt) || null;
  const expectedMs = Math.max(nowMs, Date.parse(goneAt) || 0, notBeforeMs ?? 0, Date.parse(startsAt) || 0);
  const state = stateOf(event);
  return {
    key: event.EventId + (endedAt ?? ''),
    label: `${SIGNS[state]} ${event.EventType}`,
    name: `${nameOf(event)}, ${state}. ${course(event, nowMs)}`,
    className: `${state.toLowerCase()}${event.end ? ' over' : ''}`,
    machines: event.Resources,
    startMs: Date.parse(scheduledAt),
    splitMs: startedAt ? Date.parse(startedAt) : null,
    endMs: endedAt ? Date.parse(endedAt) : expectedMs,
    notBeforeMs: event.end ? null : notBeforeMs,
  };
}
