// Machines and bars → a lane for each machine, with its bars.
import { $, el, setName, setText, sync } from './dom.js';
import { clockTime } from './text.js';

const MINUTE_MS = 60_000;
/** The part of the window before now; the style sheet draws the now line there. */
const PAST = 0.25;
const SPANS = [30, 120, 720, 1440, 4320, 14_400];
const TICKS = [5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880];
/** The most lanes, and the most rows of a lane. */
export const WHOLE = { lanes: 64, rows: 4 };

/**
 * Draws the time line.
 * @param machines `{ name, url, note }`; `url` and `note` are optional
 * @param bars in order of priority: `{ key, label, name, className, machines, startMs, splitMs, endMs, notBeforeMs }`; `splitMs` is the start of the
 *   impact, or null; `notBeforeMs` is null if it is not drawn; `name` is the full description; `band`, optional, is drawn behind all bars of the
 *   lane: `{ key, label, name, startMs, endMs }`
 * @param most the most lanes, and the most rows of a lane
 */
export function drawTimeLine(nowMs, machines, bars, most = WHOLE) {
  const spanMs = (Number($('span').value) || fitting(bars, nowMs)) * MINUTE_MS;
  const view = { nowMs, fromMs: nowMs - PAST * spanMs, spanMs, widthPx: $('axis').clientWidth || 600, rows: most.rows };
  drawAxis(view);
  const lanes = lanesOf(
    machines,
    bars.filter((bar) => bar.endMs > view.fromMs),
  );
  sync(
    $('lanes'),
    lanes.slice(0, most.lanes),
    (lane) => lane.name,
    makeLane,
    (item, lane) => updateLane(item, lane, view),
  );
  $('lanes-more').hidden = lanes.length <= most.lanes;
  setText($('lanes-more'), `${lanes.length - most.lanes} more machines are not drawn.`);
}

/** Returns the smallest span, in minutes, in which all events end. */
function fitting(bars, nowMs) {
  const lastMs = Math.max(...bars.map(({ endMs }) => endMs), nowMs);
  return SPANS.find((minutes) => minutes * MINUTE_MS * (0.95 - PAST) >= lastMs - nowMs) ?? SPANS.at(-1);
}

/** Returns the lanes by machine, ignoring letter case; bars for no machine of the group get an extra lane. */
function lanesOf(machines, bars) {
  const lanes = new Map(machines.map((machine) => [machine.name.toLowerCase(), { ...machine, bars: [] }]));
  const others = { name: 'other machines', bars: [] };
  for (const bar of bars) {
    const own = [...new Set(bar.machines.map((name) => lanes.get(name.toLowerCase()) ?? others))];
    for (const lane of own.length > 0 ? own : [others]) lane.bars.push(bar);
  }
  return others.bars.length > 0 ? [...lanes.values(), others] : [...lanes.values()];
}

function makeLane({ url, note = '' }) {
  const about = el('p', { className: 'quiet' });
  if (url?.startsWith('http')) about.append(el('a', { href: url }, url.replace('http://', '')), ' · ');
  about.append(note);
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
  const bands = bandsOf(bars, view);
  const headRem = bands.length > 0 ? 1.1 : 0;
  track.style.height = `${headRem + Math.max(1, ...placed.map(({ row }) => row + 1)) * 1.75}rem`;
  sync(
    track,
    [...bands.map((band) => ({ band })), ...placed],
    ({ band, bar }) => (band ?? bar).key,
    ({ band }) => (band ? makeBand() : makeBar()),
    (element, { band, bar, row, isBehind }) => {
      if (band) updateBand(element, band, view);
      else updateBar(element, bar, headRem + row * 1.75, view);
      element.classList.toggle('behind', isBehind === true);
    },
  );
}

/** Each band once that is in view. */
function bandsOf(bars, { fromMs, spanMs }) {
  const bands = new Map(bars.flatMap(({ band }) => (band ? [[band.key, band]] : [])));
  return [...bands.values()].filter(({ startMs, endMs }) => endMs > fromMs && startMs < fromMs + spanMs);
}

function makeBand() {
  const band = el('div', { className: 'band' });
  band.setAttribute('role', 'img');
  return band;
}

function updateBand(element, { label, name, startMs, endMs }, view) {
  const left = partOf(startMs, view);
  Object.assign(element.style, { left: `${left}%`, width: `${partOf(endMs, view) - left}%` });
  setText(element, label);
  setName(element, name);
}

/** Percent of the window that is drawn, from its left. */
const partOf = (ms, { fromMs, spanMs }) => Math.min(Math.max((ms - fromMs) / spanMs, 0), 1) * 100;

/** Places each bar in the first row with room for it and its label, which stands behind the bar if it is longer and has room there. */
function place(bars, { fromMs, spanMs, widthPx, rows }) {
  const freeFromPx = Array(rows).fill(-Infinity);
  const placed = [];
  for (const bar of bars) {
    const startPx = (Math.max(0, bar.startMs - fromMs) / spanMs) * widthPx;
    const labelPx = bar.label.length * 7 + 12;
    const barEndPx = Math.max(((bar.endMs - fromMs) / spanMs) * widthPx, startPx);
    const isBehind = barEndPx - startPx < labelPx && barEndPx + labelPx <= widthPx;
    const endPx = isBehind ? barEndPx + labelPx : Math.max(barEndPx, startPx + labelPx);
    const row = freeFromPx.findIndex((px) => px <= startPx);
    if (row < 0) continue;
    freeFromPx[row] = endPx + 6;
    placed.push({ bar, row, isBehind });
  }
  return placed;
}

function makeBar() {
  const bar = el('div', { className: 'bar' }, el('i'), el('i'), el('i', { textContent: '◆' }), el('b'));
  bar.setAttribute('role', 'img');
  return bar;
}

function updateBar(element, bar, topRem, view) {
  const { startMs, splitMs, endMs, notBeforeMs } = bar;
  const { fromMs, spanMs } = view;
  const part = (ms) => partOf(ms, view);
  const left = part(startMs);
  const within = (ms) => ((part(ms) - left) / Math.max(part(endMs) - left, 0.01)) * 100;
  const [before, after, mark, label] = element.children;
  element.className = `bar ${bar.className}`;
  Object.assign(element.style, { left: `${left}%`, width: `${part(endMs) - left}%`, top: `${topRem}rem` });
  before.style.width = splitMs ? `${within(splitMs)}%` : '100%';
  after.hidden = !splitMs;
  after.style.left = splitMs ? `${within(splitMs)}%` : '';
  mark.hidden = notBeforeMs === null || notBeforeMs < fromMs || notBeforeMs > fromMs + spanMs;
  mark.style.left = mark.hidden ? '' : `${within(notBeforeMs)}%`;
  setText(label, bar.label);
  setName(element, bar.name);
}

function drawAxis({ fromMs, spanMs, widthPx }) {
  const everyMs = (TICKS.find((minutes) => (minutes * MINUTE_MS * widthPx) / spanMs >= 90) ?? TICKS.at(-1)) * MINUTE_MS;
  const ticks = [];
  for (let ms = Math.ceil(fromMs / everyMs) * everyMs; ms < fromMs + spanMs; ms += everyMs) ticks.push(ms);
  const text = (ms) =>
    everyMs >= 1440 * MINUTE_MS ? new Date(ms).toISOString().slice(5, 10) : clockTime(ms, ms).slice(0, 5);
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
