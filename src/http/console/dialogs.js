// A question and what to do at a yes → a dialog that stays until it is done, refused or left.
import { $, el, setText } from './parts/dom.js';

let run = async () => {};
let isBusy = false;

/**
 * @param question `{ title, words, fields, label, run }`: texts of its paragraphs; elements to fill in; the name of the button that does it;
 *   `run` may throw: then its message stands in the dialog, which stays open
 */
export function confirm(question) {
  draw(question);
  setText($('ask-refusal'), '');
  $('ask').showModal();
  // What is destructive is not one blind press of Enter away.
  if (!question.fields) $('ask-cancel').focus();
}

/** Another content, as what it asks about has changed. */
export function draw({ title, words, fields = [], label, run: next }) {
  run = next;
  setText($('ask-title'), title);
  $('ask-words').replaceChildren(...words.map((text) => el('p', {}, text)));
  $('ask-fields').replaceChildren(...fields);
  setText($('ask-do'), label);
}

/** What is new while it is open. */
export const tellInDialog = (words) => setText($('ask-refusal'), words);

export const isAsking = () => $('ask').open;

export function listenToDialog() {
  $('ask-cancel').addEventListener('click', () => $('ask').close());
  $('ask-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void doIt();
  });
}

async function doIt() {
  if (isBusy) return;
  isBusy = true;
  $('ask-do').setAttribute('aria-disabled', 'true');
  setText($('ask-refusal'), '');
  try {
    if ((await run()) !== 'stay') $('ask').close();
  } catch (error) {
    $('ask-refusal').replaceChildren(...error.message.split('\n').map((line) => el('p', {}, line)));
  } finally {
    isBusy = false;
    $('ask-do').removeAttribute('aria-disabled');
  }
}

export function field(label, properties) {
  return el('label', { className: 'wide' }, label, ' ', el('input', { autocomplete: 'off', ...properties }));
}
