// A press of Start a drill → POST /v1/drills, and the reports of drills while they are of interest.
import { ask, nowMs } from './bridge.js';
import { confirm, field } from './dialogs.js';
import { $, el, setText, sync } from './parts/dom.js';
import { clockTime, span } from './parts/text.js';
import { guard, mayAct } from './sign-in.js';
import { actingWords } from './sinks.js';

const MOST = 5;
const TYPES = ['Reboot', 'Freeze', 'Redeploy', 'Preempt', 'Terminate'];

/** The newest first: `{ id, report }`. */
let drills = [];
const shown = new WeakMap();

export function listenToDrills(onDone) {
  $('drill').addEventListener('click', () => mayAct('admin') && askToDrill(onDone));
  $('drill-list').addEventListener('click', ({ target }) => {
    if (target.closest('button') && mayAct('admin')) askToCancel(shown.get(target.closest('#drill-list > li')), onDone);
  });
}

function askToDrill(onDone) {
  const type = el('select', {}, ...TYPES.map((name) => el('option', {}, name)));
  const [notice, duration] = [
    field('Notice', { value: '2m', required: true }),
    field('Duration', { value: '30s', required: true }),
  ];
  const force = el('input', { type: 'checkbox' });
  const acting = actingWords();
  confirm({
    title: 'Start a drill?',
    words: [
      'It reaches every sink and every approver, marked as a drill. Nothing is sent to Azure.',
      ...(acting.length > 0 ? ['These sinks act on the machine, as for a real event:', ...acting] : []),
    ],
    fields: [
      el('label', {}, 'Type ', type),
      notice,
      duration,
      el('label', { className: 'tick' }, force, ' Also while a real event is listed'),
      ...(acting.length > 0 ? [tick('I want these sinks to act')] : []),
    ],
    label: 'Confirm drill',
    run: async () => {
      const [noticeText, durationText] = [notice, duration].map((label) => label.lastElementChild.value.trim());
      const body = { eventType: type.value, notice: noticeText, duration: durationText, force: force.checked };
      const { id } = await ask('POST', 'v1/drills', body).catch(notBegun);
      know(id);
      onDone('A drill has started');
    },
  });
  type.focus();
}

/** The form is not sent without this tick. */
const tick = (text) =>
  el('label', { className: 'tick' }, el('input', { type: 'checkbox', required: true }), ` ${text}`);

function notBegun(error) {
  if (error.type !== 'event-listed') throw error;
  throw new Error(
    'A real event is listed. Start the drill after its end, or tick “Also while a real event is listed”.',
  );
}

function askToCancel({ id }, onDone) {
  confirm({
    title: 'Cancel this drill?',
    words: ['It ends now, as canceled; its report stays.'],
    label: 'Confirm cancel',
    run: async () => {
      await ask('DELETE', `v1/drills/${encodeURIComponent(id)}`);
      onDone('The drill is canceled');
    },
  });
}

/** A drill that this page started, or that it sees. */
function know(id) {
  if (!drills.some((drill) => drill.id === id)) drills = [{ id, report: null }, ...drills].slice(0, MOST);
}

/** @param eventIds of drills that are listed or have ended lately */
export async function readDrills(eventIds) {
  for (const eventId of eventIds) know(eventId.replace(/^drill-/i, ''));
  for (const drill of drills) {
    // For some time after its end the last deliveries are still under way.
    if (drill.doneAtMs && nowMs() - drill.doneAtMs > 60_000) continue;
    drill.report = await ask('GET', `v1/drills/${encodeURIComponent(drill.id)}`).catch((error) => {
      if (error.status === 404) return drill.report;
      throw error;
    });
    if (drill.report && ['ended', 'canceled'].includes(drill.report.state)) drill.doneAtMs ??= nowMs();
  }
}

export function drawDrills() {
  guard($('drill'), 'admin');
  const told = drills.flatMap(({ report }) => (report ? [report] : []));
  sync($('drill-list'), told, ({ id }) => id, makeReport, updateReport, $('drill-title'));
}

function makeReport() {
  const cancel = el('button', { type: 'button' }, 'Cancel…');
  return el(
    'li',
    {},
    el('h3', { tabIndex: -1 }),
    el('p'),
    el('p', { className: 'bad' }),
    el('ol', { className: 'lines' }),
    el('div', { className: 'buttons' }, cancel),
  );
}

function updateReport(item, report) {
  shown.set(item, report);
  const { state, changes, approvers, missing } = report;
  const now = nowMs();
  const [heading, who, lacks, list, buttons] = item.children;
  const firstMs = Date.parse(changes[0]?.at ?? '') || now;
  const after = (at) => `after ${span(Date.parse(at) - firstMs)}`;
  setText(heading, `Drill of ${clockTime(firstMs, now)}: ${state}`);
  setText(
    who,
    approvers.length > 0
      ? `Approved: ${approvers.map(({ name, at }) => `${name} ${after(at)}`).join(', ')}`
      : 'Nobody has approved.',
  );
  const verb = state === 'scheduled' ? 'Still to agree' : 'Did not approve';
  setText(lacks, missing.length > 0 ? `${verb}: ${missing.join(', ')}` : '');
  lacks.hidden = missing.length === 0;
  sync(
    list,
    changes.map((change, index) => ({ ...change, index })),
    ({ index }) => String(index),
    () => el('li', {}, el('span'), el('ul')),
    (line, { change, at, sinks }) => {
      setText(line.firstElementChild, `${clockTime(at, now)} ${change}`);
      sync(
        line.lastElementChild,
        sinks.map((sink, index) => ({ ...sink, index })),
        ({ index }) => String(index),
        () => el('li'),
        updateSink(at),
      );
    },
  );
  const isOver = state === 'ended' || state === 'canceled';
  if (isOver && buttons.contains(document.activeElement)) heading.focus();
  buttons.hidden = isOver;
  guard(buttons.firstElementChild, 'admin');
}

function updateSink(at) {
  return (line, sink) => {
    line.className = sink.acceptedAt === null && sink.state !== 'queued' ? 'bad' : '';
    setText(line, `${sink.name}: ${sinkWords(at, sink)}`);
  };
}

function sinkWords(at, { state, acceptedAt, attempts, status }) {
  if (acceptedAt !== null) return `accepted within ${Math.max(0, Date.parse(acceptedAt) - Date.parse(at))} ms`;
  const tries = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}${status === null ? '' : ` (${status})`}`;
  if (state === 'queued') return attempts === 0 ? 'not accepted yet' : `not accepted yet, ${tries}`;
  return `given up after ${tries}`;
}
