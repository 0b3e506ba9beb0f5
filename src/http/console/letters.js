// GET /v1/dead-letters → a line for each dead letter, with retry and discard.
import { ask, nowMs } from './bridge.js';
import { confirm } from './dialogs.js';
import { changeOf } from './lives.js';
import { $, el, hidden, setText, sync } from './parts/dom.js';
import { clockTime } from './parts/text.js';
import { guard, mayAct } from './sign-in.js';

const shown = new WeakMap();

export function listenToLetters(onDone) {
  $('letter-list').addEventListener('click', ({ target }) => {
    const button = target.closest('button');
    if (button && mayAct('admin')) askTo(button.value, shown.get(target.closest('li')), onDone);
  });
}

function askTo(act, { sink, id, type }, onDone) {
  const isRetry = act === 'retry';
  confirm({
    title: `${isRetry ? 'Retry' : 'Discard'} this dead letter?`,
    words: [
      `${changeOf({ type })} for ${sink}: ${id}.`,
      isRetry
        ? 'It is queued again and sent when its turn comes.'
        : 'It is never sent to this sink. This cannot be undone.',
    ],
    label: `Confirm ${act}`,
    run: async () => {
      await ask('POST', `v1/dead-letters/${act}`, { sink, ids: [id] });
      onDone(`Dead letter of ${sink}: ${isRetry ? 'queued again' : 'discarded'}`);
    },
  });
}

/** @param page as the bridge answers */
export function drawLetters({ items, next }) {
  $('no-letters').hidden = items.length > 0;
  $('letters-more').hidden = next === null;
  sync($('letter-list'), items, ({ sink, id }) => `${sink} ${id}`, makeLetter, updateLetter, $('letters-title'));
}

function makeLetter() {
  const button = (value, text) => el('button', { value, type: 'button' }, text, hidden());
  return el(
    'li',
    {},
    el('h3'),
    el('p', { className: 'bad' }),
    el('p', { className: 'quiet' }, el('code')),
    el('div', { className: 'buttons' }, button('retry', 'Retry…'), button('discard', 'Discard…')),
  );
}

function updateLetter(item, letter) {
  shown.set(item, letter);
  const { sink, id, type, reason, status, attempts, at } = letter;
  const [heading, why, about, buttons] = item.children;
  setText(heading, `${changeOf({ type })} for ${sink}`);
  const tries = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  setText(why, `${reason} ${clockTime(at, nowMs())} after ${tries}${status === null ? '' : `, ${status}`}`);
  setText(about.firstElementChild, id);
  for (const button of buttons.children) {
    guard(button, 'admin');
    setText(button.lastElementChild, ` ${changeOf({ type })} for ${sink}`);
  }
}
