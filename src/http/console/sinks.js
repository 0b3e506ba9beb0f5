// GET /v1/sinks → a line for each sink, with pause and resume.
import { ask, nowMs } from './bridge.js';
import { confirm } from './dialogs.js';
import { lifeOf } from './lives.js';
import { $, el, hidden, setText, sync } from './parts/dom.js';
import { clockTime, fromNow } from './parts/text.js';
import { guard, mayAct } from './sign-in.js';
import { nameOf, runningWords } from './words.js';

const shown = new WeakMap();
const FINE = ['delivering'];
/** What sinks of these types do on the machine, for a drill, too. */
const ACTS = {
  command: 'runs its program',
  kubernetes: 'drains the node of this machine, unless it has drills: false',
};
let last = [];

/** One line for each sink that acts on a drill if its filter selects it. */
export const actingWords = () =>
  last.flatMap(({ name, type }) => (Object.hasOwn(ACTS, type) ? [`${name} (${type}) ${ACTS[type]}.`] : []));

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
  last = sinks;
  $('no-sinks').hidden = sinks.length > 0;
  sync($('sink-list'), sinks, ({ name }) => name, makeSink, updateSink, $('sinks-title'));
}

function makeSink() {
  return el(
    'li',
    {},
    el('h3', { tabIndex: -1 }, el('span'), ' ', el('span', { className: 'state' })),
    el('p', { className: 'quiet' }),
    el('ul', { className: 'works' }),
    el('p', {}, el('span'), ' ', el('a', { target: '_blank', rel: 'noreferrer' })),
    el(
      'div',
      { className: 'buttons' },
      ...['pause', 'resume'].map((value) =>
        el('button', { value, type: 'button' }, value === 'pause' ? 'Pause…' : 'Resume…', hidden()),
      ),
    ),
  );
}

function eventName(eventId) {
  const life = eventId === null ? null : lifeOf(eventId);
  return life ? nameOf({ ...life.data, drill: life.isDrill }) : (eventId ?? 'the bridge');
}

/** An error that came before the last acceptance is over. */
function drawError(item, { state, lastError, lastAcceptedAt }, now) {
  item.hidden = !lastError;
  if (!lastError) return;
  const { at, code, message } = lastError;
  const isOver = FINE.includes(state) && lastAcceptedAt !== null && Date.parse(lastAcceptedAt) > Date.parse(at);
  item.className = isOver ? 'quiet' : 'bad';
  const [text, link] = item.children;
  setText(text, `${isOver ? '✓ Over, it accepts again. Before: ' : ''}${clockTime(at, now)} ${message}`);
  setText(link, code);
  link.href = `${document.querySelector('link[rel=help]').href}errors.md#:~:text=${encodeURIComponent(code)}`;
}

function updateSink(item, sink) {
  shown.set(item, sink);
  const { name, type, state, queued, oldestAt, lastAcceptedAt, deadLetters, running = [] } = sink;
  const now = nowMs();
  const [heading, facts, works, error, buttons] = item.children;
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
  sync(
    works,
    running.map((work, index) => ({ ...work, index })),
    ({ index }) => String(index),
    () => el('li'),
    (line, work) => setText(line, `▶ ${eventName(work.eventId)}: ${runningWords(work, now)}`),
  );
  drawError(error, sink, now);
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
