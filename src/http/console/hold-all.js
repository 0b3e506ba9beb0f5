// The hold of everything → the banner of the page, and the button that sets or releases it.
import { ask, nowMs } from './bridge.js';
import { confirm, field } from './dialogs.js';
import { $, setText } from './parts/dom.js';
import { clockTime } from './parts/text.js';
import { guard, mayAct } from './sign-in.js';

/** As `GET /v1/events` shows it; null: none stands. */
let heldAll = null;

export const isAllHeld = () => heldAll !== null;

export function listenToHoldOfAll(onDone) {
  $('hold-all').addEventListener('click', () => {
    if (!mayAct('admin')) return;
    if (heldAll === null) askToHoldAll(onDone);
    else askToReleaseAll(onDone);
  });
}

/** @param view as `GET /v1/events` shows it */
export function drawHoldOfAll(view) {
  heldAll = view.heldAll;
  const banner = $('all-held');
  setText(banner, heldAll === null ? '' : heldWords(heldAll));
  banner.hidden = heldAll === null;
  setText($('hold-all'), heldAll === null ? 'Hold everything…' : 'Release everything…');
  guard($('hold-all'), 'admin');
}

function heldWords({ by, at, reason }) {
  const why = reason === null ? '' : `: ${reason}`;
  return `❚❚ EVERYTHING IS HELD by ${by} since ${clockTime(Date.parse(at), nowMs())} UTC${why}. This bridge sends nothing to Azure until an admin releases it.`;
}

function askToHoldAll(onDone) {
  const reason = field('Reason', { maxLength: 200, name: 'reason', required: true });
  confirm({
    title: 'Hold everything?',
    words: [
      'While this hold stands, this bridge sends nothing to Azure, for no event, known or to come. Drills are held, too.',
      'It lasts over restarts, until an admin releases it. NotBefore stays: then Azure starts an event all the same.',
      'In a group, each bridge has its own.',
    ],
    fields: [reason],
    label: 'Hold everything',
    run: async () => {
      const body = { EventId: '*', reason: reason.lastElementChild.value.trim() };
      const { submitting = [] } = await ask('POST', 'v1/holds', body);
      const late =
        submitting.length > 0 ? `, but Azure may have been asked already to start ${submitting.join(', ')}` : '';
      onDone(`Everything is held${late}`);
    },
  });
  reason.lastElementChild.focus();
}

function askToReleaseAll(onDone) {
  confirm({
    title: 'Release everything?',
    words: [
      heldWords(heldAll),
      'With it gone, what is decided is sent to Azure at once, for each event that nobody else holds. Look at the list of events first.',
    ],
    label: 'Release everything',
    run: async () => {
      await ask('DELETE', 'v1/holds/*');
      onDone('The hold of everything is released');
    },
  });
}
