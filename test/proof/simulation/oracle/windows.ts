// A window of the configuration and a moment → whether it is open, and since when (section 13).
import type { WindowSettings } from '../history.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
/** A change of the clock is at most this far from the time that it skips or repeats. */
const AROUND_MINUTES = 180;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

const formats = new Map<string, Intl.DateTimeFormat>();
const shown = new Map<string, number>();

/** What the wall clock of the zone shows, in minutes since 1970 as a calendar without time zones counts them. */
function clockOf(zone: string, minute: number): number {
  const id = `${zone} ${minute}`;
  const known = shown.get(id);
  if (known !== undefined) return known;
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-US', {
      ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric' },
    });
  formats.set(zone, format);
  const parts = format.format(minute * MINUTE_MS).split(/\D+/);
  const [month = 0, day = 0, year = 0, hour = 0, minutes = 0] = parts.map(Number);
  const clock = Date.UTC(year, month - 1, day, hour, minutes) / MINUTE_MS;
  if (shown.size > 50_000) shown.clear();
  shown.set(id, clock);
  return clock;
}

/** The first minute that shows this time, or the last one; the first one behind it if a change skips it. */
function minuteOf(zone: string, time: number, which: 'first' | 'last'): number {
  const about = time - (clockOf(zone, time) - time);
  const [before, after] = [about - AROUND_MINUTES, about + AROUND_MINUTES];
  const offsetBefore = clockOf(zone, before) - before;
  if (offsetBefore === clockOf(zone, after) - after) return time - offsetBefore;
  const minutes = Array.from({ length: 2 * AROUND_MINUTES }, (_, index) => before + index);
  const shows = (minute: number) => clockOf(zone, minute) === time;
  const found = which === 'first' ? minutes.find(shows) : minutes.findLast(shows);
  return found ?? minutes.find((minute) => clockOf(zone, minute) > time) ?? after;
}

/** By the wall clock; `untilMs` does not lie inside. */
export interface Opening {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The opening of the window that this moment lies in; null: it is closed. */
export function openingAt(window: WindowSettings, wallMs: number): Opening | null {
  return openingsAround(window, wallMs).find(({ fromMs, untilMs }) => wallMs >= fromMs && wallMs < untilMs) ?? null;
}

/** Whether the window opens, or is open, in this time. */
export function opensWithin(window: WindowSettings, fromMs: number, untilMs: number): boolean {
  return openingsAround(window, fromMs).some((opening) => opening.untilMs > fromMs && opening.fromMs < untilMs);
}

/** Those that begin on the days around a moment. */
function openingsAround(
  { days, from, to, except = [], timeZone = 'UTC' }: WindowSettings,
  wallMs: number,
): readonly Opening[] {
  const today = Math.floor(clockOf(timeZone, Math.floor(wallMs / MINUTE_MS)) / DAY_MINUTES);
  const openings: Opening[] = [];
  for (let day = today - 2; day <= today + 2; day++) {
    const date = new Date(day * DAY_MINUTES * MINUTE_MS);
    if (!days.includes(WEEKDAYS[date.getUTCDay()] ?? '') || except.includes(date.toISOString().slice(0, 10))) continue;
    const [begin, end] = [minutesOf(from), minutesOf(to)];
    const first = minuteOf(timeZone, day * DAY_MINUTES + begin, 'first');
    const last = minuteOf(timeZone, day * DAY_MINUTES + end + (end <= begin ? DAY_MINUTES : 0), 'last');
    if (first < last) openings.push({ fromMs: first * MINUTE_MS, untilMs: last * MINUTE_MS });
  }
  return openings;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
