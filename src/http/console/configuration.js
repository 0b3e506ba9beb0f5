// The configuration's part of /readyz → since when it holds, and why the last reload was refused.
import { ask, nowMs } from './bridge.js';
import { confirm } from './dialogs.js';
import { $, el, setText, sync } from './parts/dom.js';
import { timeAndDistance } from './parts/text.js';
import { guard, mayAct } from './sign-in.js';

export function listenToReload(onDone) {
  $('reload').addEventListener('click', () => mayAct('admin') && askToReload(onDone));
}

function askToReload(onDone) {
  confirm({
    title: 'Read the configuration again?',
    words: ['The file is checked whole: it is put in force, or refused with its faults and the one before goes on.'],
    label: 'Confirm reload',
    run: async () => {
      const { changed } = await ask('POST', 'v1/reload').catch(notInForce);
      onDone(
        changed.length > 0
          ? `Configuration in force: ${changed.join(', ')} changed`
          : 'Configuration read: nothing has changed',
      );
    },
  });
}

/** The dialog shows each fault, not only that there are some. */
function notInForce(error) {
  const lines = linesOf(error);
  if (lines.length === 0) throw error;
  throw new Error([`Not in force, the configuration before goes on (${error.status}):`, ...lines].join('\n'));
}

const linesOf = ({ faults = [], restart = [] }) => [
  ...faults.map(({ path, message }) => (path ? `${path}: ${message}` : message)),
  ...restart.map((path) => `${path}: takes a restart`),
];

export function drawConfiguration({ since, refused }) {
  guard($('reload'), 'admin');
  const now = nowMs();
  const { at, by } = refused ?? {};
  const words = `In force since ${timeAndDistance(since, now)}.`;
  setText(
    $('configuration'),
    refused
      ? `${words} The last reload was refused ${timeAndDistance(at, now)}${by ? `, asked for by ${by}` : ''}:`
      : words,
  );
  sync(
    $('faults'),
    linesOf(refused ?? {}).map((text, index) => ({ text, index })),
    ({ index }) => String(index),
    () => el('li', { className: 'bad' }),
    (line, { text }) => setText(line, text),
  );
}
