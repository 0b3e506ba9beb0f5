// An instant ↔ the date and time of a time zone's wall clock, by Node's time-zone data (Intl).

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The instants at which a wall clock shows one date and time. A change of the clock can skip a time or repeat it. */
export interface Moments {
  /** The first instant; if the time is skipped, the first instant after the gap. In milliseconds since 1970. */
  readonly firstMs: number;
  /** The last instant; as `firstMs`, except for a time that occurs twice. */
  readonly lastMs: number;
}

export interface Zone {
  /** Returns the date and time of the wall clock at an instant, as if that clock showed UTC, in milliseconds. */
  localMs(atMs: number): number;
  /** Returns the instants at which the wall clock shows `localMs`. */
  moments(localMs: number): Moments;
}

/** Whether Node knows a zone by this name. Offsets such as `+02:00` and abbreviations such as `CET` are not names. */
export function isZoneName(name: string): boolean {
  return name === 'UTC' || (name.includes('/') && formatOf(name) !== null);
}

/** Returns the names of time zones that Node lists. It accepts more: older names, and any case. */
export function zoneNames(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}

/** Whether Node has the data of all time zones. A build with small-icu or without Intl has not. */
export function hasZoneData(): boolean {
  // 15 July 2026, noon UTC: Berlin has summer time, and Lord Howe an offset with half an hour.
  const noonMs = Date.UTC(2026, 6, 15, 12);
  return (['Europe/Berlin', 'Australia/Lord_Howe'] as const).every((name, index) => {
    const format = formatOf(name);
    return format !== null && shownBy(format, noonMs) - noonMs === ([2, 10.5][index] as number) * 60 * MINUTE_MS;
  });
}

/** Returns the zone. @throws RangeError if Node knows no zone by this name */
export function zoneOf(name: string): Zone {
  const format = formatOf(name);
  if (format === null) throw new RangeError(`unknown time zone: ${name}`);
  const localMs = (atMs: number) => shownBy(format, atMs);
  return { localMs, moments: (wantedMs) => momentsIn(localMs, wantedMs) };
}

/** Every offset is within a day of UTC, so each instant that shows `wantedMs` is within a day of it, too. */
function momentsIn(localMs: (atMs: number) => number, wantedMs: number): Moments {
  const offsets = new Set([wantedMs - DAY_MS, wantedMs, wantedMs + DAY_MS].map((atMs) => localMs(atMs) - atMs));
  const shown = [...offsets].map((offsetMs) => wantedMs - offsetMs).filter((atMs) => localMs(atMs) === wantedMs);
  if (shown.length > 0) return { firstMs: Math.min(...shown), lastMs: Math.max(...shown) };
  const afterMs = afterGap(localMs, wantedMs, offsets);
  return { firstMs: afterMs, lastMs: afterMs };
}

/** Returns the first instant after the gap. The clock shows less than `wantedMs` before it, and more after it. */
function afterGap(localMs: (atMs: number) => number, wantedMs: number, offsets: ReadonlySet<number>): number {
  let beforeMs = wantedMs - Math.max(...offsets) - 1;
  let afterMs = wantedMs - Math.min(...offsets);
  while (afterMs - beforeMs > 1) {
    const middleMs = Math.floor((beforeMs + afterMs) / 2);
    if (localMs(middleMs) < wantedMs) beforeMs = middleMs;
    else afterMs = middleMs;
  }
  return afterMs;
}

const formats = new Map<string, Intl.DateTimeFormat | null>();

function formatOf(name: string): Intl.DateTimeFormat | null {
  const known = formats.get(name);
  if (known !== undefined) return known;
  const format = newFormat(name);
  formats.set(name, format);
  return format;
}

function newFormat(timeZone: string): Intl.DateTimeFormat | null {
  const number = 'numeric';
  try {
    return new Intl.DateTimeFormat('en-US-u-ca-iso8601-nu-latn', {
      ...{ timeZone, hourCycle: 'h23', era: 'short' },
      ...{ year: number, month: number, day: number, hour: number, minute: number, second: number },
    });
  } catch {
    return null;
  }
}

/** Milliseconds are those of UTC: no zone has an offset with a part of a second. */
function shownBy(format: Intl.DateTimeFormat, atMs: number): number {
  const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = (
    ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
  ).map((type) => parts.get(type));
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((atMs % 1000) + 1000) % 1000);
}
