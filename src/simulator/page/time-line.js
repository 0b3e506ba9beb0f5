// The simulator's state → a lane for each machine, with a bar for each of its events.
import { $, el, setText, sync } from './dom.js';
import { clockTime, course, SIGNS, stateOf, titleOf } from './text.js';

const MINUTE_MS = 60_000;
/** Of the window, what lies before now; the style sheet draws the now line there. */
const PAST = 0.25;
const SPANS = [30, 120, 720, 4320, 14_400];
const TICKS = [5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880];
/** What is drawn at most. */
const LANES = 64;
const ROWS = 4;

export function drawTimeLine({ now, vms, events, past }) {
  const nowMs = Date.parse(now);
  const bars = [...events.toSorted((a, b) => dueMs(a) - dueMs(b)), ...past.toReversed()].map((event) => barOf(event, nowMs));
  const spanMs = (Number($('span').value) || fitting(bars, nowMs)) * MINUTE_MS;
  const view = { nowMs, fromMs: nowMs - PAST * spanMs, spanMs, widthPx: $('axis').clientWidth || 600 };
  drawAxis(view);
  const lanes = lanesOf(
    vms,
    bars.filter((bar) => bar.endMs > view.fromMs),
  );
  sync(
    $('lanes'),
    lanes.slice(0, LANES),
    (lane) => lane.name,
    makeLane,
    (item, lane) => updateLane(item, lane, view),
  );
  $('lanes-more').hidden = lanes.length <= LANES;
  setText($('lanes-more'), `${lanes.length - LANES} more machines are not drawn.`);
}

/** When it starts or goes; what never does comes last. */
function dueMs({ startsAt, goneAt }) {
  return Date.parse(goneAt ?? startsAt ?? '9999-12-31');
}

/** From scheduled to gone, as far as that is known; `splitMs` is the start. */
function barOf(event, nowMs) {
  const { scheduledAt, startedAt, startsAt, endedAt, goneAt, notBeforeAt } = event;
  const notBeforeMs = Date.parse(notBeforeAt) || null;
  const splitMs = startedAt ? Date.parse(startedAt) : null;
  const expectedMs = Math.max(nowMs, Date.parse(goneAt) || 0, notBeforeMs ?? 0, Date.parse(startsAt) || 0);
  const endMs = endedAt ? Date.parse(endedAt) : expectedMs;
  return { event, notBeforeMs, splitMs, startMs: Date.parse(scheduledAt), endMs, nowMs };
}

/** Minutes: the smallest span in which all that is listed ends. */
function fitting(bars, nowMs) {
  const lastMs = Math.max(...bars.map(({ endMs }) => endMs), nowMs);
  return SPANS.find((minutes) => minutes * MINUTE_MS * (0.95 - PAST) >= lastMs - nowMs) ?? SPANS.at(-1);
}

/** By its machines' names without case; what names none of the group gets a lane of its own. */
function lanesOf(vms, bars) {
  const lanes = new Map(vms.map((vm) => [vm.name.toLowerCase(), { ...vm, bars: [] }]));
  const others = { name: 'other machines', bars: [] };
  for (const bar of bars) {
    const own = [...new Set(bar.event.Resources.map((name) => lanes.get(name.toLowerCase()) ?? others))];
    for (const lane of own.length > 0 ? own : [others]) lane.bars.push(bar);
  }
  return others.bars.length > 0 ? [...lanes.values(), others] : [...lanes.values()];
}

function makeLane({ url, faultDomain }) {
  const about = el('p', { className: 'quiet' });
  if (url?.startsWith('http')) about.append(el('a', { href: url }, url.replace('http://', '')), ` · FD ${faultDomain}`);
  return el(
    'li',
    {},
    el('div', { className: 'lane-name' }, el('h3'), about, el('p', { className: 'quiet more' })),
    el('div', { className: 'track' }),
  );
}

function updateLane(item, { name, bars }, view) {
  const [label, track] = item.children;
  setText(label.firstElementChild, name);
  const placed = place(bars, view);
  setText(label.lastElementChild, placed.length < bars.length ? `${bars.length - placed.length} more not drawn` : '');
  track.style.height = `${Math.max(1, ...placed.map(({ row }) => row + 1)) * 1.75}rem`;
  sync(
    track,
    placed,
    ({ bar }) => bar.event.EventId + (bar.event.endedAt ?? ''),
    makeBar,
    (element, { bar, row }) => updateBar(element, bar, row, view),
  );
}

/** Each bar in the first row that has room for it and its label. */
function place(bars, { fromMs, spanMs, widthPx }) {
  const freeFromPx = Array(ROWS).fill(-Infinity);
  const placed = [];
  for (const bar of bars) {
    const startPx = (Math.max(0, bar.startMs - fromMs) / spanMs) * widthPx;
    const endPx = Math.max(((bar.endMs - fromMs) / spanMs) * widthPx, startPx + labelOf(bar).length * 7 + 12);
    const row = freeFromPx.findIndex((px) => px <= startPx);
    if (row < 0) continue;
    freeFromPx[row] = endPx + 6;
    placed.push({ bar, row });
  }
  return placed;
}

function labelOf({ event }) {
  return `${SIGNS[stateOf(event)]} ${event.EventType}`;
}

function makeBar() {
  const bar = el('div', { className: 'bar' }, el('i'), el('i'), el('i', { textContent: '◆' }), el('b'));
  bar.setAttribute('role', 'img');
  return bar;
}

function updateBar(element, bar, row, { nowMs, fromMs, spanMs }) {
  const { event, startMs, splitMs, endMs, notBeforeMs } = bar;
  const part = (ms) => Math.min(Math.max((ms - fromMs) / spanMs, 0), 1) * 100;
  const left = part(startMs);
  const within = (ms) => ((part(ms) - left) / Math.max(part(endMs) - left, 0.01)) * 100;
  const [before, after, mark, label] = element.children;
  element.className = `bar ${stateOf(event).toLowerCase()}${event.end ? ' over' : ''}`;
  Object.assign(element.style, { left: `${left}%`, width: `${part(endMs) - left}%`, top: `${row * 1.75}rem` });
  before.style.width = splitMs ? `${within(splitMs)}%` : '100%';
  after.hidden = !splitMs;
  after.style.left = splitMs ? `${within(splitMs)}%` : '';
  mark.hidden = !notBeforeMs || event.end || notBeforeMs < fromMs || notBeforeMs > fromMs + spanMs;
  mark.style.left = mark.hidden ? '' : `${within(notBeforeMs)}%`;
  setText(label, labelOf(bar));
  const name = `${titleOf(event)}, ${stateOf(event)}. ${course(event, nowMs)}`;
  if (element.title !== name) {
    element.title = name;
    element.setAttribute('aria-label', name);
  }
}

function drawAxis({ fromMs, spanMs, widthPx }) {
  const everyMs = (TICKS.find((minutes) => (minutes * MINUTE_MS * widthPx) / spanMs >= 90) ?? TICKS.at(-1)) * MINUTE_MS;
  const ticks = [];
  for (let ms = Math.ceil(fromMs / everyMs) * everyMs; ms < fromMs + spanMs; ms += everyMs) ticks.push(ms);
  const text = (ms) => (everyMs >= 1440 * MINUTE_MS ? new Date(ms).toISOString().slice(5, 10) : clockTime(ms, ms).slice(0, 5));
  sync(
    $('axis'),
    ticks,
    String,
    () => el('span'),
    (tick, ms) => {
      setText(tick, text(ms));
      tick.style.left = `${((ms - fromMs) / spanMs) * 100}%`;
    },
  );
}
