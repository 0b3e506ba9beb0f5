// CloudEvents of the journal and the stream → when each event was seen, started and ended.
import { ask } from './bridge.js';

const HOUR_MS = 3_600_000;
/** How far back is looked; less where that would be too many pages. */
const WINDOWS_MS = [12 * HOUR_MS, HOUR_MS, HOUR_MS / 12];
const PAGES = 3;
const MOST_PAST = 200;

/** By EventId in lower case: its life now. */
const lives = new Map();
let past = [];

export const changeOf = ({ type }) => /\.((?:approval\.|source\.)?[a-z]+)\.v1$/.exec(type)?.[1] ?? type;

export const lifeOf = (eventId) => lives.get(eventId.toLowerCase()) ?? null;

/** Those that have ended, the newest first. */
export const pastLives = () => past;

/** Takes each CloudEvent once; those of an event come in their order. */
export function takeEvent(position, event) {
  const { data, time } = event;
  const change = changeOf(event);
  if (!['scheduled', 'updated', 'started', 'ended'].includes(change)) return;
  const key = data.eventId.toLowerCase();
  const before = lives.get(key);
  if (before && before.position >= position) return;
  const isNext = !before || before.endedAt !== null;
  const life = isNext ? { key, scheduledAt: time, startedAt: null, endedAt: null, outcome: null } : before;
  Object.assign(life, { position, data, isDrill: event.drill === true });
  if (change === 'started') life.startedAt = time;
  if (change === 'ended') Object.assign(life, { endedAt: time, outcome: data.outcome });
  lives.set(key, life);
  if (change !== 'ended') return;
  past = [life, ...past].slice(0, MOST_PAST);
}

export async function readLives(nowMs) {
  lives.clear();
  past = [];
  for (const windowMs of WINDOWS_MS) if (await readSince(new Date(nowMs - windowMs).toISOString())) return;
}

/** False: there was more. */
async function readSince(since) {
  for (let page = 0, after = 0; page < PAGES; page++) {
    const { items, next } = await ask('GET', `v1/journal?limit=1000&since=${encodeURIComponent(since)}&after=${after}`);
    for (const { position, event } of items) takeEvent(position, event);
    if (next === null) return true;
    after = next;
  }
  return false;
}
