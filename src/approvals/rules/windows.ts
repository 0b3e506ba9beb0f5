// Windows → which one is open at a time, and which one opens next. Pure, by Node's time-zone data.
import { zoneOf } from '../../formats/zoned-time.ts';

export const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

/** A window that opens on some days. Its times are those of the wall clock of its zone. */
export interface WindowOptions {
  readonly days: readonly (typeof WEEKDAYS)[number][];
  /** `HH:MM`; the window contains it. */
  readonly from: string;
  /** `HH:MM` or `24:00`; the window does not contain it. Before `from`: on the next day. */
  readonly to: string;
  /** Dates such as `2026-12-26` on which it does not open. */
  readonly except: readonly string[];
  /** The IANA name of the zone. */
  readonly timeZone: string;
}

/** One opening of a window, in milliseconds since 1970. It contains `fromMs`, and not `untilMs`. */
export interface Opening {
  /** The window's name in the configuration. */
  readonly window: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

export function contains({ fromMs, untilMs }: Pick<Opening, 'fromMs' | 'untilMs'>, atMs: number): boolean {
  return fromMs <= atMs && atMs < untilMs;
}

/**
 * Returns the opening that contains an instant, else the next one, or null if none begins within 400 days. Of several
 * that contain it, the one that ends last; of several that begin next, the first name of `names`.
 */
export type Calendar = (names: readonly string[], atMs: number) => Opening | null;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A NotBefore is never further ahead than a year, so a later opening decides nothing. */
export const FURTHEST_DAYS = 400;

/** @throws RangeError if Node knows no zone by a window's name */
export function compileCalendar(windows: Readonly<Record<string, WindowOptions>>): Calendar {
  const compiled = new Map(Object.entries(windows).map(([name, options]) => [name, compileWindow(name, options)]));
  return (names, atMs) => {
    const openings = names.flatMap((name) => compiled.get(name)?.(atMs) ?? []);
    return (
      openings.toSorted((one, other) => begin(one, atMs) - begin(other, atMs) || lasting(one, other, atMs))[0] ?? null
    );
  };
}

function begin({ fromMs }: Opening, atMs: number): number {
  return Math.max(fromMs, atMs);
}

function lasting(one: Opening, other: Opening, atMs: number): number {
  return one.fromMs <= atMs ? other.untilMs - one.untilMs : 0;
}

/** Returns the opening of this window that contains an instant, else the next one. */
function compileWindow(window: string, { days, from, to, except, timeZone }: WindowOptions) {
  const zone = zoneOf(timeZone);
  const weekdays = new Set(days.map((day) => WEEKDAYS.indexOf(day)));
  const exceptions = new Set(except);
  const [fromMs, toMs] = [minutesOf(from) * MINUTE_MS, minutesOf(to) * MINUTE_MS];
  const endMs = toMs > fromMs ? toMs : toMs + DAY_MS;
  /** `dayMs`: midnight of a date, as the wall clock shows it. */
  const openingOn = (dayMs: number): Opening | null => {
    const day = new Date(dayMs);
    if (!weekdays.has(day.getUTCDay()) || exceptions.has(day.toISOString().slice(0, 10))) return null;
    const opening = {
      window,
      fromMs: zone.moments(dayMs + fromMs).firstMs,
      untilMs: zone.moments(dayMs + endMs).lastMs,
    };
    return opening.fromMs < opening.untilMs ? opening : null;
  };
  return (atMs: number): Opening | null => {
    const todayMs = Math.floor(zone.localMs(atMs) / DAY_MS) * DAY_MS;
    // A window of two days before may last until now if the clock was set back by a day.
    for (let day = -2; day <= FURTHEST_DAYS; day += 1) {
      const opening = openingOn(todayMs + day * DAY_MS);
      if (opening !== null && opening.untilMs > atMs) return opening;
    }
    return null;
  };
}

/** `24:00` is 1440. */
function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
