// An event's part of the journal and its record → its story, line by line.
import { ask, askAll, nowMs } from './bridge.js';
import { changeOf } from './lives.js';
import { el, setText, sync } from './parts/dom.js';
import { clockTime } from './parts/text.js';
import { changeWords, deliveryWords, stepWords } from './words.js';

const PARTS = 10;

/** Those that are open, by EventId in lower case. */
const open = new Map();

/** A part of the page that tells it when it is opened. @param eventIdOf asked then */
export function makeStory(eventIdOf) {
  const list = el('ol', { className: 'lines' });
  const fault = el('p', { className: 'bad' });
  const story = el('details', { className: 'story' }, el('summary', {}, 'Story'), list, fault);
  story.addEventListener('toggle', () => {
    const key = eventIdOf().toLowerCase();
    const tell = () => fill(eventIdOf(), list, fault);
    if (story.open) open.set(key, { story, tell });
    else open.delete(key);
    if (story.open) void tell();
  });
  return story;
}

/** Tells anew what is open. @param keys of the events that something happened to; absent: all */
export function retell(keys) {
  for (const [key, { story, tell }] of open) {
    if (!story.isConnected) open.delete(key);
    else if (!keys || keys.has(key)) void tell();
  }
}

/** The CloudEvents of an event with what became of them, oldest first. */
export async function journalOf(eventId) {
  const { items } = await askAll(`v1/journal?limit=1000&event=${encodeURIComponent(eventId)}`, PARTS);
  return items;
}

/** The record, all its parts together; null where the bridge knows none. */
async function recordOf(eventId) {
  try {
    const path = `v1/approvals/${encodeURIComponent(eventId)}?limit=200`;
    const record = await ask('GET', path);
    for (let { next } = record, part = 1; next !== null && part < PARTS; part++) {
      const more = await ask('GET', `${path}&after=${next}`);
      record.steps.push(...more.steps);
      next = more.next;
    }
    return record;
  } catch (error) {
    if (error.status === 404 || error.status === 503) return null;
    throw error;
  }
}

async function fill(eventId, list, fault) {
  try {
    const [items, record] = await Promise.all([journalOf(eventId), recordOf(eventId)]);
    setText(fault, '');
    sync(list, linesOf(items, record), ({ key }) => key, makeLine, updateLine);
  } catch (error) {
    setText(fault, error.message);
  }
}

function linesOf(items, record) {
  const told = items.map(({ position, at, event, deliveries }) => ({
    ...{ key: `j${position}`, at, words: (now) => changeWords(changeOf(event), event.data, now), deliveries },
  }));
  const steps = (record?.steps ?? []).map((step, index) => ({
    ...{ key: `s${step.at}${step.step}${index}`, at: step.at, words: () => stepWords(step), deliveries: [] },
  }));
  const unwritten = (record?.unwritten ?? []).map(({ approver, steps: count, since }) => ({
    ...{
      key: `u${approver}${since}`,
      at: since,
      words: () => `${approver ?? 'the bridge'}: ${count} more steps`,
      deliveries: [],
    },
  }));
  return [...told, ...steps, ...unwritten].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

function makeLine() {
  return el('li', {}, el('time'), ' ', el('span'), el('ul'));
}

function updateLine(item, { at, words, deliveries }) {
  const now = nowMs();
  const [time, text, list] = item.children;
  time.dateTime = at;
  setText(time, clockTime(at, now));
  setText(text, words(now));
  sync(
    list,
    deliveries.map((delivery, index) => ({ ...delivery, index })),
    ({ index }) => String(index),
    () => el('li'),
    (line, delivery) => {
      line.className = delivery.state === 'dead' ? 'bad' : '';
      setText(line, deliveryWords(delivery, now));
    },
  );
}
