// What the bridge lists, and lives of events → the time line, the list, and what has ended.
import { nowMs } from './bridge.js';
import { lifeOf, pastLives } from './lives.js';
import { $, el, hidden, setText, sync } from './parts/dom.js';
import { impact, SIGNS, timeAndDistance, titleOf } from './parts/text.js';
import { drawTimeLine } from './parts/time-line.js';
import { barFor, guard } from './sign-in.js';
import { makeStory } from './story.js';
import { agreement, course, holdWords, nameOf } from './words.js';

/** Name, words, and who may. */
const ACTS = [
  ['approve', 'Approve…'],
  ['hold', 'Hold…'],
  ['release', 'Release…'],
];
const NO_START = 'SpotRebalanceRecommendation';

const shown = new WeakMap();
/** What each was drawn from last. */
const contents = new WeakMap();

/** @param onAct called with the name of an act and the event, as last drawn */
export function listenToEvents(onAct) {
  $('event-list').addEventListener('click', ({ target }) => {
    const act = target.closest('button')?.value;
    if (act) onAct(act, shown.get(target.closest('#event-list > li')));
  });
}

/** What is due first comes first; what has started, last. */
function inOrder(events) {
  const dueMs = ({ eventStatus, notBefore }) =>
    eventStatus === 'Started' ? 1e15 : Date.parse(notBefore ?? '') || 1e14;
  return events
    .map((event) => [dueMs(event), event])
    .sort(([a], [b]) => a - b)
    .map(([, event]) => event);
}

export function drawEvents(events) {
  const now = nowMs();
  const listed = inOrder(events);
  $('no-events').hidden = listed.length > 0;
  sync($('event-list'), listed, ({ eventId }) => eventId.toLowerCase(), makeEvent, updateEvent, $('events-title'));
  const past = pastLives();
  $('past').hidden = past.length === 0;
  setText($('past-count'), String(past.length));
  sync(
    $('past-list'),
    past,
    ({ key, position }) => `${key}${position}`,
    (life) =>
      el(
        'li',
        {},
        el('p'),
        makeStory(() => life.data.eventId),
      ),
    (item, { data, outcome, endedAt, isDrill }) => {
      const title = nameOf({ ...data, drill: isDrill });
      setText(item.firstElementChild, `${SIGNS[outcome] ?? '–'} ${title}: ${outcome} ${timeAndDistance(endedAt, now)}`);
    },
  );
}

/** What time alone changes. */
export function tickEvents(events) {
  const now = nowMs();
  for (const item of $('event-list').children) {
    const event = shown.get(item);
    if (event) setText(item.children[1], course(event, now));
  }
  drawTime(inOrder(events), pastLives(), now);
}

function drawTime(listed, past, now) {
  const bars = [
    ...listed.map((event) => barOf(event, lifeOf(event.eventId), now)),
    ...past.map((life) => pastBar(life, now)),
  ];
  const names = new Map(bars.flatMap(({ machines }) => machines).map((name) => [name.toLowerCase(), name]));
  const inNames = [...names.values()].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  drawTimeLine(
    now,
    inNames.map((name) => ({ name })),
    bars,
  );
}

function barOf(event, life, now) {
  const { eventId, eventType, eventStatus, resources, notBefore, durationInSeconds } = event;
  const notBeforeMs = Date.parse(notBefore ?? '') || null;
  const startedMs = life?.startedAt ? Date.parse(life.startedAt) : null;
  const isStarted = eventStatus === 'Started';
  const goneMs = isStarted ? (startedMs ?? now) + Math.max(0, durationInSeconds) * 1000 : (notBeforeMs ?? now);
  return {
    key: eventId.toLowerCase(),
    label: `${SIGNS[eventStatus] ?? ''} ${eventType}`,
    get name() {
      return `${nameOf(event)}, ${eventStatus}. ${course(event, now)}`;
    },
    className: eventStatus.toLowerCase(),
    machines: resources,
    startMs: Date.parse(life?.scheduledAt ?? '') || now - 60_000,
    splitMs: isStarted ? (startedMs ?? now) : null,
    endMs: Math.max(now, goneMs),
    notBeforeMs,
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

function makeEvent({ eventId }) {
  const acts = ACTS.map(([value, text]) => el('button', { value, type: 'button' }, text, hidden()));
  return el(
    'li',
    {},
    el('h3', { tabIndex: -1 }, el('span', { className: 'state' }), ' ', el('span')),
    el('p', { className: 'course' }),
    el('p', { className: 'agreement' }),
    el('ul', { className: 'holds' }),
    el('p', { className: 'quiet' }, el('span'), ' ', el('code')),
    el('div', { className: 'buttons' }, ...acts),
    makeStory(() => eventId),
  );
}

function updateEvent(item, event) {
  shown.set(item, event);
  // Of 1,000 events a refresh changes a few.
  const content = JSON.stringify([event, barFor('approver')]);
  if (contents.get(item) === content) return;
  contents.set(item, content);
  const { eventId, eventType, eventStatus, resources, description, eventSource, durationInSeconds, approval } = event;
  const [heading, when, agreed, holds, about, buttons] = item.children;
  const [state, title] = heading.children;
  state.className = `state ${eventStatus.toLowerCase()}`;
  setText(state, `${SIGNS[eventStatus] ?? ''} ${eventStatus}`);
  setText(title, nameOf(event));
  setText(when, course(event, nowMs()));
  setText(agreed, agreement(event));
  const held = approval?.holds ?? [];
  sync(
    holds,
    held,
    ({ approver }) => approver,
    () => el('li'),
    (line, hold) => setText(line, holdWords(hold)),
  );
  const all = resources.length > 3 ? `all machines: ${resources.join(', ')}` : '';
  setText(
    about.firstElementChild,
    [eventSource, impact(durationInSeconds), all, description].filter(Boolean).join(' · '),
  );
  setText(about.lastElementChild, eventId);
  const isScheduled = eventStatus === 'Scheduled';
  const [approve, hold, release] = buttons.children;
  guard(
    approve,
    'approver',
    isScheduled && eventType !== NO_START,
    isScheduled ? 'A recommendation starts nothing.' : 'It has started.',
  );
  guard(hold, 'approver', isScheduled, 'It has started.');
  hold.hidden = !isScheduled;
  guard(release, 'approver');
  if (held.length === 0 && release === document.activeElement) heading.focus();
  release.hidden = held.length === 0;
  for (const button of buttons.children) setText(button.lastElementChild, ` ${titleOf(eventType, resources)}`);
}
