// GET /v1/sinks → a line for each sink, with pause and resume.
import { ask, nowMs } from './bridge.js';
import { confirm } from './dialogs.js';
import { $, el, hidden, setText, sync } from './parts/dom.js';
import { clockTime, fromNow } from './parts/text.js';
import { guard, mayAct } from './sign-in.js';

const shown = new WeakMap();
const FINE = ['delivering'];

export function listenToSinks(onDone) {
  $('sink-list').addEventListener('click', ({ target }) => {
    const button = target.closest('button');
    if (button && mayAct('admin')) askTo(button.value, shown.get(target.closest('li')), onDone);
  });
}

function askTo(act, { name, queued }, onDone) {
  const isPause = act === 'pause';
  confirm({
    title: `${isPause ? 'Pause' : 'Resume'} ${name}?`,
    words: [
      isPause
        ? 'Nothing more is sent there until it is resumed, over restarts too; what is published waits in the queue.'
        : `Sending goes on with what waits: ${queued} queued.`,
    ],
    label: `Confirm ${act}`,
    run: async () => {
      await ask('POST', `v1/sinks/${encodeURIComponent(name)}/${act}`);
      onDone(`Sink ${name}: ${isPause ? 'paused' : 'resumed'}`);
    },
  });
}

export function drawSinks(sinks) {
  $('no-sinks').hidden = sinks.length > 0;
  sync($('sink-list'), sinks, ({ name }) => name, makeSink, updateSink, $('sinks-title'));
}

function makeSink() {
  return el(
    'li',
    {},
    el('h3', { tabIndex: -1 }, el('span'), ' ', el('span', { className: 'state' })),
    el('p', { className: 'quiet' }),
    el('p', { className: 'bad' }),
    el(
      'div',
      { className: 'buttons' },
      ...['pause', 'resume'].map((value) =>
        el('button', { value, type: 'button' }, value === 'pause' ? 'Pause…' : 'Resume…', hidden()),
      ),
    ),
  );
}

function updateSink(item, sink) {
  shown.set(item, sink);
  const { name, type, state, queued, oldestAt, lastAcceptedAt, lastError, deadLetters } = sink;
  const now = nowMs();
  const [heading, facts, error, buttons] = item.children;
  setText(heading.firstElementChild, name);
  setText(heading.lastElementChild, state);
  heading.lastElementChild.className = `state ${FINE.includes(state) ? 'fine' : 'trouble'}`;
  const words = [
    type,
    `${queued} queued${oldestAt ? `, the oldest since ${clockTime(oldestAt, now)}` : ''}`,
    lastAcceptedAt ? `last accepted ${fromNow(lastAcceptedAt, now)}` : 'nothing accepted yet',
    deadLetters > 0 && `${deadLetters} dead`,
  ];
  setText(facts, words.filter(Boolean).join(' · '));
  setText(error, lastError ? `${clockTime(lastError.at, now)} ${lastError.code}: ${lastError.message}` : '');
  error.hidden = !lastError;
  const [pause, resume] = buttons.children;
  const isOff = state === 'paused' || state === 'retired';
  for (const [button, isHidden] of [
    [pause, isOff],
    [resume, !isOff],
  ]) {
    guard(button, 'admin');
    if (isHidden && button === document.activeElement) heading.focus();
    button.hidden = isHidden;
    setText(button.lastElementChild, ` ${name}`);
  }
}
