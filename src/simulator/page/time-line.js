// The simulator's state → the machines and bars of its time line.
import { drawTimeLine } from './parts/time-line.js';
import { course, nameOf, SIGNS, stateOf } from './text.js';

/** Draws the events in order of their next change; those without one come last, then past events. */
export function drawEventsInTime({ now, vms, events, past }) {
  const nowMs = Date.parse(now);
  const bars = [...events.toSorted((a, b) => dueMs(a) - dueMs(b)), ...past.toReversed()].map((event) =>
    barOf(event, nowMs),
  );
  const machines = vms.map(({ name, url, faultDomain }) => ({
    name,
    url,
    note: url?.startsWith('http') ? `FD ${faultDomain}` : '',
  }));
  drawTimeLine(nowMs, machines, bars);
}

/** When an event starts or ends. */
function dueMs({ startsAt, goneAt }) {
  return Date.parse(goneAt ?? startsAt ?? '9999-12-31');
}

/** Returns the bar of an event, from scheduled to its known or expected end. */
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
