// The bridge's Liquid filters: values → text (dates, JSON, shorter texts, Slack's escapes). Pure.

/** A filter's error for the author of the template; contains no value of an event. */
export class FilterFault extends Error {
  override readonly name = 'FilterFault';
}

/** Years of four digits, with a time and an offset: Date would parse other formats in the machine's time zone. */
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;
const ELLIPSIS = '…';
const DEFAULT_FORMAT = '%Y-%m-%d %H:%M:%S %Z';

/**
 * Returns a value as text: null as nothing, a list as its members with commas, an object as JSON. Lone surrogates
 * become U+FFFD.
 */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'object' ? toJson(value) : String(value).toWellFormed();
}

/** Returns a value escaped for the inside of a JSON string (RFC 8259, section 7). */
export function escapeJsonString(value: unknown): string {
  return JSON.stringify(textOf(value)).slice(1, -1);
}

/** Returns a complete JSON value; undefined becomes null. */
export function toJson(value: unknown): string {
  // JSON.stringify would keep a lone surrogate as an escape.
  return JSON.stringify(value ?? null, (_, member: unknown) =>
    typeof member === 'string' ? member.toWellFormed() : member,
  );
}

/** Shortens a text to at most `most` UTF-16 code units, including the ellipsis. Never cuts a character in two. */
export function truncate(value: unknown, most: unknown = 100, ellipsis: unknown = ELLIPSIS): string {
  const text = textOf(value);
  const room = Number(most);
  if (!Number.isInteger(room) || room < 0) throw new FilterFault('truncate needs a whole number of characters');
  if (text.length <= room) return text;
  const end = textOf(ellipsis).slice(0, room);
  // Remove a lone surrogate at the cut.
  return text.slice(0, room - end.length).replace(/[\uD800-\uDBFF]$/, '') + end;
}

/** Escapes the three characters that create mentions and links in Slack's mrkdwn. */
export function escapeSlack(value: unknown): string {
  return textOf(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Formats a time by strftime, in UTC or the given IANA time zone, with English names, independent of the machine's
 * settings. Returns an empty text for null, and a text that is not an RFC 3339 timestamp unchanged.
 * @throws FilterFault for an unknown time zone or letter
 */
export function formatDate(value: unknown, format: unknown = DEFAULT_FORMAT, zone: unknown = 'UTC'): string {
  const text = textOf(value);
  const ms = TIMESTAMP.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) return text;
  const parts = partsOf(ms, textOf(zone));
  return textOf(format).replaceAll(/%(.?)/g, (_, letter: string) => {
    const write = Object.hasOwn(LETTERS, letter) ? LETTERS[letter] : undefined;
    if (write === undefined) throw new FilterFault(`date does not support %${letter}`);
    return write(parts, ms);
  });
}

type Parts = Readonly<Partial<Record<Intl.DateTimeFormatPartTypes, string>>>;

const LETTERS: Readonly<Record<string, (parts: Parts, ms: number) => string>> = {
  Y: ({ year = '' }) => year,
  m: ({ month = '' }) => month,
  d: ({ day = '' }) => day,
  e: ({ day = '' }) => String(Number(day)),
  H: ({ hour = '' }) => hour,
  M: ({ minute = '' }) => minute,
  S: ({ second = '' }) => second,
  A: ({ weekday = '' }) => weekday,
  a: ({ weekday = '' }) => weekday.slice(0, 3),
  B: (parts) => monthName(parts),
  b: (parts) => monthName(parts).slice(0, 3),
  F: ({ year, month, day }) => `${year}-${month}-${day}`,
  T: ({ hour, minute, second }) => `${hour}:${minute}:${second}`,
  R: ({ hour, minute }) => `${hour}:${minute}`,
  Z: ({ timeZoneName = '' }) => timeZoneName,
  s: (_, ms) => String(Math.floor(ms / 1000)),
  '%': () => '%',
};

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

function monthName({ month }: Parts): string {
  return MONTHS[Number(month) - 1] ?? '';
}

function partsOf(ms: number, timeZone: string): Parts {
  const twoDigits = {
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  } as const;
  const settings = {
    ...twoDigits,
    year: 'numeric',
    weekday: 'long',
    timeZoneName: 'short',
    hourCycle: 'h23',
    timeZone,
  } as const;
  const parts = formatIn(settings).formatToParts(ms);
  return Object.fromEntries(parts.map(({ type, value }) => [type, value]));
}

function formatIn(settings: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', settings);
  } catch {
    throw new FilterFault('date does not support this time zone: use one such as Europe/Berlin');
  }
}
