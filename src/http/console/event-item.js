// One listed event → its item: what it is, what happens next, who may act on it.
import { nowMs } from './bridge.js';
import { el, hidden, setText, sync } from './parts/dom.js';
import { impact, SIGNS, titleOf } from './parts/text.js';
import { barFor, guard, isAwaited, mayRelease } from './sign-in.js';
import { makeStory } from './story.js';
import { agreement, course, holdWords, nameOf, nextWords } from './words.js';

/** Name, and words. */
const ACTS = [
  ['approve', 'Approve…'],
  ['hold', 'Hold…'],
  ['release', 'Release…'],
];
const NO_START = 'SpotRebalanceRecommendation';

/** By item: the event and the view that it was drawn from. */
const shown = new WeakMap();
const contents = new WeakMap();

export const eventOf = (item) => shown.get(item)?.event;

/** Before the EventId in the address of an event. */
export const ADDRESS = '#/events/';

export function makeEvent({ eventId }) {
  const acts = ACTS.map(([value, text]) => el('button', { value, type: 'button' }, text, hidden()));
  const badges = ['state', 'state held', 'state own'].map((className) => el('span', { className }));
  const [state, held, own] = badges;
  setText(held, '❚❚ Held');
  setText(own, 'This machine');
  return el(
    'li',
    { className: 'event' },
    el('h3', { tabIndex: -1 }, state, ' ', held, ' ', own, ' ', el('span')),
    el('p', { className: 'course' }),
    el('p', { className: 'agreement' }),
    el('p', { className: 'next' }),
    el('ul', { className: 'holds' }),
    el(
      'p',
      { className: 'quiet' },
      el('span'),
      ' ',
      el('a', { href: `${ADDRESS}${encodeURIComponent(eventId)}` }, el('code')),
    ),
    el('div', { className: 'buttons' }, ...acts),
    makeStory(() => eventId),
  );
}

/** What time alone changes. */
export function tickEvent(item) {
  const { event, view } = shown.get(item);
  const now = nowMs();
  setText(item.children[1], course(event, now));
  setText(item.children[3], nextWords(event, view, now));
}

/** @param view as `GET /v1/events` shows it */
export function updateEvent(item, event, view) {
  shown.set(item, { event, view });
  // Of 1,000 events a refresh changes a few.
  const content = JSON.stringify([event, barFor('approver'), view.state]);
  if (contents.get(item) === content) return;
  contents.set(item, content);
  const { eventId, resources, description, eventSource, durationInSeconds, approval } = event;
  const [heading, , agreed, , holds, about, buttons] = item.children;
  drawHeading(heading, event);
  tickEvent(item);
  setText(agreed, agreement(event));
  sync(
    holds,
    approval?.holds ?? [],
    ({ approver, all, reason }) => JSON.stringify([approver, all, reason]),
    () => el('li'),
    (line, hold) => setText(line, holdWords(hold)),
  );
  const all = resources.length > 3 ? `all machines: ${resources.join(', ')}` : '';
  setText(
    about.firstElementChild,
    [eventSource, impact(durationInSeconds), all, description].filter(Boolean).join(' · '),
  );
  setText(about.lastElementChild.firstElementChild, eventId);
  drawButtons(buttons, event, heading);
}

function drawHeading(heading, event) {
  const { eventStatus, approval, observer } = event;
  const [state, held, own, title] = heading.children;
  state.className = `state ${eventStatus.toLowerCase()}`;
  setText(state, `${SIGNS[eventStatus] ?? ''} ${eventStatus}`);
  held.hidden = (approval?.holds ?? []).length === 0;
  own.hidden = observer?.affected !== true;
  setText(title, nameOf(event));
  heading.parentElement.classList.toggle('running', eventStatus === 'Started');
  heading.parentElement.classList.toggle('is-held', !held.hidden);
}

function drawButtons(buttons, event, heading) {
  const { eventType, eventStatus, resources, approval, rule } = event;
  const [approve, hold, release] = buttons.children;
  const isScheduled = eventStatus === 'Scheduled';
  const isApproved = !isAwaited(rule?.waitingFor ?? []);
  guard(approve, 'approver', !isApproved, whyNot(approval));
  guard(hold, 'approver');
  // The hold of everything is released in the head of the page.
  const held = (approval?.holds ?? []).filter(({ all }) => !all);
  const mine = held.filter(({ approver }) => mayRelease(approver));
  guard(release, 'approver', mine.length > 0, 'Only the one who holds it, or an admin, may release it.');
  const isNever = eventType === NO_START || rule?.then === 'never';
  for (const [button, isHidden] of [
    [approve, isNever || !isScheduled],
    [hold, !isScheduled],
    [release, held.length === 0],
  ]) {
    if (isHidden && button === document.activeElement) heading.focus();
    button.hidden = isHidden;
    setText(button.lastElementChild, ` ${titleOf(eventType, resources)}`);
  }
}

const whyNot = (approval) =>
  (approval?.approvedBy ?? []).length > 0
    ? 'Your approval is recorded, or is not needed.'
    : 'Your approval is not needed, or its scope does not allow it.';
