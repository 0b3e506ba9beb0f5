// GET /v1/dead-letters → groups by sink and reason, with retry and discard of one or of all.
import { ask, askAll, nowMs } from './bridge.js';
import { confirm } from './dialogs.js';
import { changeOf, lifeOf } from './lives.js';
import { $, el, hidden, setText, sync } from './parts/dom.js';
import { clockTime } from './parts/text.js';
import { guard, mayAct } from './sign-in.js';
import { nameOf } from './words.js';

/** The most that are read for the page, and that one request may name. */
const PART = 1000;
/** The most lines of a group. */
const LINES = 50;
/** The most that one confirmation acts on: so many parts of the list are read before it. */
const PARTS = 20;
/** After this time the list is read again, even if no figure of a sink has changed. */
const FRESH_MS = 30_000;

const shown = new WeakMap();
let page = { items: [], next: null };
let known = '';
let readAtMs = 0;

export function listenToLetters(onDone) {
  $('letter-list').addEventListener('click', ({ target }) => {
    const button = target.closest('button');
    if (!button || !mayAct('admin')) return;
    const letter = shown.get(button.closest('.letter'));
    if (letter) confirm(decision(button.value, [letter], onDone));
    else void askForAll(button.value, shown.get(button.closest('.letters')), onDone);
  });
}

/** Reads the list again if a sink has got or lost a dead letter. @param sinks as `GET /v1/sinks` shows them */
export async function readLetters(sinks) {
  const figures = JSON.stringify(sinks.map(({ name, deadLetters }) => [name, deadLetters]));
  if (figures === known && nowMs() - readAtMs < FRESH_MS) return;
  const hasAny = sinks.some(({ deadLetters }) => deadLetters > 0);
  page = hasAny ? await ask('GET', `v1/dead-letters?limit=${PART}`) : { items: [], next: null };
  [known, readAtMs] = [figures, nowMs()];
}

/** A group may be longer than what the page has read; the confirmation has its whole number. */
async function askForAll(act, { key, items: [{ sink }] }, onDone) {
  setText($('error'), '');
  try {
    const path = `v1/dead-letters?limit=${PART}&sink=${encodeURIComponent(sink)}`;
    const { items } = await askAll(path, PARTS);
    const letters = items.filter((letter) => keyOf(letter) === key);
    if (letters.length > 0) confirm(decision(act, letters, onDone));
  } catch (error) {
    setText($('error'), error.message);
  }
}

function decision(act, letters, onDone) {
  const isRetry = act === 'retry';
  const [{ sink }] = letters;
  const what = letters.length === 1 ? 'this dead letter' : `${letters.length} dead letters`;
  const names = letters.slice(0, 5).map(letterName);
  const more = letters.length > names.length ? [`and ${letters.length - names.length} more`] : [];
  return {
    title: `${isRetry ? 'Retry' : 'Discard'} ${what} of ${sink}?`,
    words: [
      [...names, ...more].join('; '),
      isRetry ? 'Queued again, and sent in turn.' : 'Never sent to this sink. This cannot be undone.',
    ],
    label: `Confirm ${act}`,
    run: async () => {
      for (let from = 0; from < letters.length; from += PART)
        await ask('POST', `v1/dead-letters/${act}`, {
          sink,
          ids: letters.slice(from, from + PART).map(({ id }) => id),
        });
      known = '';
      onDone(`${letters.length} of ${sink}: ${isRetry ? 'queued again' : 'discarded'}`);
    },
  };
}

const keyOf = ({ sink, reason, status }) => JSON.stringify([sink, reason, status]);

/** `Reboot of web_0: scheduled` */
function letterName({ type, eventId, eventType, resources }) {
  const life = eventId === null ? null : lifeOf(eventId);
  const data = eventType === null ? life?.data : { eventType, resources };
  const title = data ? nameOf({ ...data, drill: /^drill-/i.test(eventId) }) : (eventId ?? 'The bridge');
  return `${title}: ${changeOf({ type }).replace('.', ' ')}`;
}

export function drawLetters() {
  const { items, next } = page;
  $('no-letters').hidden = items.length > 0;
  $('letters-more').hidden = next === null;
  const groups = [...Map.groupBy(items, keyOf)].map(([key, members]) => ({ key, items: members }));
  sync($('letter-list'), groups, ({ key }) => key, makeGroup, updateGroup, $('letters-title'));
}

const button = (value, text) => el('button', { value, type: 'button' }, text, hidden());

function makeGroup() {
  return el(
    'li',
    { className: 'letters' },
    el('h3', { tabIndex: -1 }),
    el('p', { className: 'quiet' }),
    el('div', { className: 'buttons' }, button('retry', 'Retry all…'), button('discard', 'Discard all…')),
    el(
      'details',
      {},
      el('summary', {}, 'Each of them'),
      el('ul', { className: 'rows' }),
      el('p', { className: 'quiet' }),
    ),
  );
}

function updateGroup(item, group) {
  shown.set(item, group);
  const { items } = group;
  const [{ sink, reason, status }] = items;
  const [heading, about, buttons, details] = item.children;
  const title = `${items.length} × ${sink}: ${reason}${status === null ? '' : ` (${status})`}`;
  setText(heading, title);
  const names = [...new Set(items.map(letterName))];
  setText(about, `${names.slice(0, 3).join('; ')}${names.length > 3 ? `; and ${names.length - 3} more` : ''}`);
  drawButtons(buttons, title);
  const [, list, more] = details.children;
  sync(list, items.slice(0, LINES), ({ id }) => id, makeLetter, updateLetter, heading);
  setText(more, items.length > LINES ? `The oldest ${LINES} of ${items.length} show.` : '');
}

function drawButtons(buttons, title) {
  for (const each of buttons.children) {
    guard(each, 'admin');
    setText(each.lastElementChild, ` ${title}`);
  }
}

function makeLetter() {
  return el(
    'li',
    { className: 'letter' },
    el('p'),
    el('p', { className: 'quiet' }, el('span'), ' ', el('code')),
    el('div', { className: 'buttons' }, button('retry', 'Retry…'), button('discard', 'Discard…')),
  );
}

function updateLetter(item, letter) {
  shown.set(item, letter);
  const { id, attempts, at, reason } = letter;
  const [name, about, buttons] = item.children;
  setText(name, letterName(letter));
  const tries = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  setText(about.firstElementChild, `${reason} ${clockTime(at, nowMs())} after ${tries}`);
  setText(about.lastElementChild, id);
  drawButtons(buttons, `${letterName(letter)} for ${letter.sink}`);
}
