// The simulator's state and journal → the lists of events, past events and requests.
import { $, el, hidden, setText, sync } from './parts/dom.js';
import { clockTime, course, impact, nameOf, SIGNS, stateOf } from './text.js';

/** The number of events listed at first, and added with each click. */
const PAGE = 50;
let shown = PAGE;

/** The buttons of an event: name, label, and the status in which the button is shown. */
const MOVES = [
  ['start', 'Start', 'Scheduled'],
  ['cancel', 'Cancel', 'Scheduled'],
  ['approve', 'Approve as a client', 'Scheduled'],
  ['later', 'NotBefore +5 min', 'Scheduled'],
  ['move', 'Move…', 'Scheduled'],
  ['end', 'End', 'Started'],
];

const events = new WeakMap();

/** @param onMove called with a button's name and the event, as last drawn */
export function listenToMoves(onMove, redraw) {
  $('event-list').addEventListener('click', ({ target }) => {
    const move = target.closest('button')?.value;
    if (move) onMove(move, events.get(target.closest('li')));
  });
  $('events-more').addEventListener('click', ({ target }) => {
    if (!target.closest('button')) return;
    shown += PAGE;
    redraw();
  });
  $('events-more').append(el('span'), ' ', el('button', { type: 'button' }, `Show ${PAGE} more`));
}

/** Draws the events, newest first. */
export function drawEvents({ now, events: listed, past }) {
  const nowMs = Date.parse(now);
  const newest = listed.slice(-shown).reverse();
  sync(
    $('event-list'),
    newest,
    ({ EventId }) => EventId,
    makeEvent,
    (item, event) => updateEvent(item, event, nowMs),
    $('events-title'),
  );
  $('no-events').hidden = listed.length > 0;
  if (listed.length <= shown && $('events-more').contains(document.activeElement)) $('events-title').focus();
  $('events-more').hidden = listed.length <= shown;
  setText($('events-more').firstElementChild, `${listed.length - newest.length} more events are not shown.`);
  $('past').hidden = past.length === 0;
  setText($('past-count'), String(past.length));
  sync(
    $('past-list'),
    past.slice(-PAGE).reverse(),
    ({ EventId, endedAt }) => EventId + endedAt,
    () => el('li'),
    (item, event) => {
      setText(item, `${SIGNS[event.end]} ${nameOf(event)}: ${course(event, nowMs)}`);
    },
  );
}

function makeEvent() {
  const moves = MOVES.map(([value, text]) => el('button', { value, type: 'button' }, text, hidden()));
  return el(
    'li',
    {},
    el('h3', { tabIndex: -1 }, el('span', { className: 'state' }), ' ', el('span')),
    el('p', { className: 'course' }),
    el('p', { className: 'quiet' }, el('span'), ' ', el('code')),
    el('div', { className: 'buttons' }, ...moves),
  );
}

function updateEvent(item, event, nowMs) {
  events.set(item, event);
  const [heading, when, about, moves] = item.children;
  const [state, title] = heading.children;
  state.className = `state ${event.EventStatus.toLowerCase()}`;
  setText(state, `${SIGNS[stateOf(event)]} ${event.EventStatus}`);
  setText(title, nameOf(event));
  setText(when, course(event, nowMs));
  const seen = event.seen ? `seen by ${event.seen.join(', ') || 'no machine'}` : '';
  setText(
    about.firstElementChild,
    [event.EventSource, impact(event.DurationInSeconds), seen, event.Description].filter(Boolean).join(' · '),
  );
  setText(about.lastElementChild, event.EventId);
  for (const [index, button] of [...moves.children].entries()) {
    const isPossible = MOVES[index][2] === event.EventStatus && !(button.value === 'approve' && event.approvedAt);
    // Not to the next button: a second click on Start would end the event.
    if (!isPossible && button === document.activeElement) heading.focus();
    button.hidden = !isPossible;
    setText(button.lastElementChild, ` ${nameOf(event)}`);
  }
}

/** @param requests oldest first, as in the journal */
export function drawRequests(requests, now) {
  const rows = requests.toReversed().map((request, index) => ({ ...request, index }));
  sync(
    $('request-list'),
    rows,
    ({ index }) => String(index),
    makeRow,
    (row, request) => {
      const { at, vm, method, path, status, outcome } = request;
      const texts = [
        clockTime(at, Date.parse(now)),
        vm,
        `${method} ${path}`,
        status === null ? outcome : String(status),
      ];
      for (const [index, cell] of [...row.children].entries()) setText(cell, texts[index]);
      row.className = (status ?? (outcome === 'waiting' ? 0 : 400)) >= 400 ? 'bad' : '';
    },
  );
  $('no-requests').hidden = rows.length > 0;
}

function makeRow() {
  return el('tr', {}, ...[0, 1, 2, 3].map(() => el('td')));
}
