// Listed and ended events, and the own machine → the lanes of the time line.
import { lifeOf } from './lives.js';
import { $ } from './parts/dom.js';
import { SIGNS, timeAndDistance } from './parts/text.js';
import { drawTimeLine, WHOLE } from './parts/time-line.js';
import { awaitedWindow, bothTimes, course, delay, nameOf, waitWords } from './words.js';

/** So many leave room for the list of events on the first screen. */
const FEW = { lanes: 3, rows: 1 };

/** @param own the name of this machine, whose lane is the first; null if it is unknown */
export function drawLanes(listed, past, own, now) {
  const bars = [
    ...listed.map((event) => barOf(event, lifeOf(event.eventId), now)),
    ...past.map((life) => pastBar(life, now)),
  ];
  const names = new Map(bars.flatMap(({ machines }) => machines).map((name) => [name.toLowerCase(), name]));
  const isOwn = (name) => name.toLowerCase() === own?.toLowerCase();
  const inOrder = [...names.values()].sort(
    (a, b) => isOwn(b) - isOwn(a) || a.localeCompare(b, 'en', { numeric: true }),
  );
  $('all-lanes-label').hidden = bars.length <= 2 * FEW.lanes;
  drawTimeLine(
    now,
    inOrder.map((name) => ({ name, note: isOwn(name) ? 'this machine' : '' })),
    bars,
    $('all-lanes').checked || $('all-lanes-label').hidden ? WHOLE : FEW,
  );
}

function barOf(event, life, now) {
  const { eventId, eventType, eventStatus, resources, notBefore, durationInSeconds } = event;
  const notBeforeMs = Date.parse(notBefore ?? '') || null;
  const startedMs = life?.startedAt ? Date.parse(life.startedAt) : null;
  const isStarted = eventStatus === 'Started';
  const goneMs = isStarted ? (startedMs ?? now) + Math.max(0, durationInSeconds) * 1000 : (notBeforeMs ?? now);
  const late = delay(event, now);
  return {
    key: eventId.toLowerCase(),
    label: `${SIGNS[eventStatus] ?? ''} ${eventType}${late}`,
    get name() {
      return `${nameOf(event)}, ${eventStatus}${late}. ${course(event, now)}. ${waitWords(event, now)}`.trim();
    },
    className: `${eventStatus.toLowerCase()}${late && ' late'}`,
    band: bandOf(awaitedWindow(event), now),
    machines: resources,
    startMs: Date.parse(life?.scheduledAt ?? '') || now - 60_000,
    splitMs: isStarted ? (startedMs ?? now) : null,
    endMs: Math.max(now, goneMs),
    notBeforeMs,
  };
}

function bandOf(window, now) {
  if (window === null) return null;
  const { name, opensAt, closesAt } = window;
  return {
    key: `band ${name} ${opensAt}`,
    label: name,
    get name() {
      return `Window ${name}, from ${bothTimes(opensAt, now)} until ${bothTimes(closesAt, now)}`;
    },
    startMs: Date.parse(opensAt),
    endMs: Date.parse(closesAt),
  };
}

function pastBar({ key, position, data, outcome, isDrill, scheduledAt, startedAt, endedAt }, now) {
  return {
    key: `${key}${position}`,
    label: `${SIGNS[outcome] ?? '–'} ${data.eventType}`,
    get name() {
      return `${nameOf({ ...data, drill: isDrill })}, ${outcome}, ${timeAndDistance(endedAt, now)}`;
    },
    className: `${outcome} over`,
    machines: data.resources,
    startMs: Date.parse(scheduledAt),
    splitMs: startedAt ? Date.parse(startedAt) : null,
    endMs: Date.parse(endedAt),
    notBeforeMs: null,
  };
}
