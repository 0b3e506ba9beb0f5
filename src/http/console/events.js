// What the bridge lists, and lives of events → groups of like events in a list, and what has ended.
import { nowMs } from './bridge.js';
import { ADDRESS, eventOf, makeEvent, tickEvent, updateEvent } from './event-item.js';
import { drawLanes } from './lanes.js';
import { pastLives } from './lives.js';
import { $, el, setText, sync } from './parts/dom.js';
import { SIGNS, timeAndDistance } from './parts/text.js';
import { makeStory } from './story.js';
import { alikeWords, bothTimes, machines, nameOf } from './words.js';

/** Fewer like events stand alone. */
const LEAST_ALIKE = 4;

/** As `GET /v1/events` showed it last. */
let view = null;
/** The EventId in the page's address, in lower case, until it is shown. */
let wanted = null;

/** @param onAct called with the name of an act and the event, as last drawn */
export function listenToEvents(onAct) {
  $('event-list').addEventListener('click', ({ target }) => {
    const act = target.closest('button')?.value;
    if (act) onAct(act, eventOf(target.closest('.event')));
  });
  $('filter').addEventListener('input', () => view && drawEvents(view));
  addEventListener('hashchange', () => {
    seek();
    if (view) drawEvents(view);
  });
  seek();
}

function seek() {
  const isEvent = location.hash.startsWith(ADDRESS);
  wanted = isEvent ? decoded(location.hash.slice(ADDRESS.length)).toLowerCase() : null;
  if (wanted !== null) $('filter').value = '';
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What runs comes first, then what concerns this machine, then what is due first. */
function inOrder(events) {
  const dueMs = ({ notBefore }) => Date.parse(notBefore ?? '') || 1e14;
  const rank = ({ eventStatus, observer }) => (eventStatus === 'Started' ? 0 : 2) + (observer?.affected ? 0 : 1);
  return events
    .map((event) => [rank(event), dueMs(event), event])
    .sort(([rankA, dueA], [rankB, dueB]) => rankA - rankB || dueA - dueB)
    .map(([, , event]) => event);
}

/** Every word of the filter occurs in what the event is. */
function matches(event, words) {
  const { eventId, eventType, eventStatus, eventSource, resources, description, approval } = event;
  const held = (approval?.holds ?? []).length > 0 ? 'held' : '';
  const text = [eventId, eventType, eventStatus, eventSource, ...resources, description, held].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Rows of the list: an event, or a group of like events. */
function rowsOf(events, isFiltered) {
  const groups = Map.groupBy(events, (event) => (isFiltered ? event.eventId : alikeWords(event)));
  return [...groups].flatMap(([key, members]) =>
    members.length < LEAST_ALIKE
      ? members.map((event) => ({ key: event.eventId.toLowerCase(), event }))
      : [{ key: `group ${key}`, members }],
  );
}

/** @param next as `GET /v1/events` shows it */
export function drawEvents(next) {
  view = next;
  const words = $('filter').value.toLowerCase().split(' ').filter(Boolean);
  const found = inOrder(view.events.filter((event) => matches(event, words)));
  $('no-events').hidden = view.events.length > 0;
  $('filter-label').hidden = view.events.length === 0;
  setText($('filter-facts'), words.length > 0 ? `${found.length} of ${view.events.length} events match` : '');
  sync($('event-list'), rowsOf(found, words.length > 0), ({ key }) => key, makeRow, updateRow, $('events-title'));
  drawPast();
  showWanted();
}

const makeRow = (row) => (row.members ? makeGroup() : makeEvent(row.event));

function updateRow(item, row) {
  if (row.members) updateGroup(item, row);
  else updateEvent(item, row.event, view);
}

function makeGroup() {
  return el('li', { className: 'group' }, el('details', {}, el('summary'), el('ul', { className: 'members' })));
}

function updateGroup(item, { members }) {
  const [summary, list] = item.firstElementChild.children;
  const [first] = members;
  const { eventType, eventStatus, approval, nextStep, rule, notBefore, drill, observer } = first;
  const named = new Set(members.flatMap(({ resources }) => resources));
  const next = rule?.then === 'never' ? 'never approved here' : nextStep?.by ? `approved by ${nextStep.by}` : '';
  const facts = [
    `${SIGNS[eventStatus] ?? ''} ${members.length} × ${drill ? 'Drill: ' : ''}${eventType}, ${eventStatus}`,
    (approval?.holds ?? []).length > 0 && '❚❚ held',
    observer?.affected ? 'this machine' : machines(named.size),
    eventStatus === 'Scheduled' && notBefore !== null && `first NotBefore ${bothTimes(notBefore, nowMs())}`,
    eventStatus === 'Scheduled' && next,
  ];
  setText(summary, facts.filter(Boolean).join(' · '));
  sync(
    list,
    members,
    ({ eventId }) => eventId.toLowerCase(),
    makeEvent,
    (each, event) => updateEvent(each, event, view),
  );
}

/** Opens and shows the event that the page's address names, once. */
function showWanted() {
  if (wanted === null) return;
  const item = [...$('event-list').querySelectorAll('.event')].find(
    (each) => eventOf(each).eventId.toLowerCase() === wanted,
  );
  if (item === undefined) {
    const isPast = pastLives().some(({ key }) => key === wanted);
    $('past').open = $('past').open || isPast;
    setText($('error'), `The event ${wanted} is not listed${isPast ? ': it has ended' : ' by this bridge'}.`);
  } else {
    const group = item.closest('details');
    if (group) group.open = true;
    item.scrollIntoView({ block: 'center' });
    item.querySelector('h3').focus();
  }
  wanted = null;
}

function drawPast() {
  const now = nowMs();
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
export function tickEvents() {
  for (const item of $('event-list').querySelectorAll('.event')) if (item.checkVisibility()) tickEvent(item);
  drawLanes(inOrder(view.events), pastLives(), view.vm.name, nowMs());
}
