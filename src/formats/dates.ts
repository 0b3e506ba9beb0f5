// Dates (RFC 1123, RFC 3339, HTTP) ↔ milliseconds and RFC 3339; stricter than `Date.parse`.

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const ISO_8601 =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})([.,]\d+)?)?\s?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;
const RFC_1123 =
  /^(?:[^\d\s,]+,?\s*)?(\d{1,2})\s+([a-z]{3})\s+(\d{4})\s+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*(gmt|utc?|z|[+-]\d{4}))?$/i;
/** The two obsolete forms of an HTTP date (RFC 9110, section 5.6.7). */
const RFC_850 = /^[a-z]+,\s+(\d{2})-([a-z]{3})-(\d{2})\s+(\d{2}):(\d{2}):(\d{2})\s+gmt$/i;
const ASCTIME = /^[a-z]{3}\s+([a-z]{3})\s+(\d{1,2})\s+(\d{2}):(\d{2}):(\d{2})\s+(\d{4})$/i;

/**
 * Returns RFC 3339 UTC in whole seconds, with fractions cut: `2022-04-11T22:26:58Z`.
 * @throws RangeError outside the years 0 to 9999
 */
export function toRfc3339Seconds(wallMs: number): string {
  const text = new Date(Math.floor(wallMs / 1000) * 1000).toISOString();
  if (text.length !== 24) throw new RangeError(`RFC 3339 has no such year: ${text}`);
  return `${text.slice(0, 19)}Z`;
}

/** Returns RFC 3339 UTC with milliseconds: `2022-04-11T22:26:58.117Z`. */
export function toRfc3339(wallMs: number): string {
  return new Date(wallMs).toISOString();
}

/**
 * Parses RFC 3339 with a zone and seconds.
 * @returns milliseconds since 1970, with finer fractions cut; null for other texts and for days that do not exist
 */
export function parseInstant(text: string): number | null {
  const match = RFC_3339.exec(text);
  if (!match) return null;
  const [, year, month, day, hour, minute, second, fraction, zone] = match;
  return instant({ year, month: Number(month), day, hour, minute, second, fraction, zone });
}

/**
 * Parses a NotBefore as the metadata service or an imitation of it writes it: RFC 1123 (the weekday is ignored) or ISO
 * 8601. A date without a zone is UTC, and fractions are cut (behaviour 3.3).
 * @returns RFC 3339 UTC in whole seconds, or null if the text is not a date
 */
export function parseNotBefore(text: string): string | null {
  const trimmed = text.trim();
  const ms = parseIso(trimmed) ?? parseRfc1123(trimmed);
  if (ms === null) return null;
  const iso = new Date(ms).toISOString();
  // A zone can move the first and the last day out of the four-digit years.
  return iso.length === 24 ? `${iso.slice(0, 19)}Z` : null;
}

/**
 * Parses a `Retry-After`: seconds or an HTTP date (RFC 9110, section 10.2.3). Callers limit the result.
 * @returns milliseconds, at least 0, or null if the header is missing or not valid
 */
export function parseRetryAfter(value: string | undefined, wallMs: number): number | null {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  const at = parseRfc1123(text) ?? parseObsoleteHttpDate(text, wallMs);
  return at === null ? null : Math.max(0, at - wallMs);
}

function parseIso(text: string): number | null {
  const match = ISO_8601.exec(text);
  if (!match) return null;
  const [, year, month, day, hour, minute, second, fraction, zone] = match;
  return instant({ year, month: Number(month), day, hour, minute, second, fraction, zone });
}

function parseRfc1123(text: string): number | null {
  const match = RFC_1123.exec(text);
  if (!match) return null;
  const [, day, month, year, hour, minute, second, zone] = match;
  return instant({ year, month: monthOf(month), day, hour, minute, second, zone });
}

function parseObsoleteHttpDate(text: string, wallMs: number): number | null {
  const rfc850 = RFC_850.exec(text);
  if (rfc850) {
    const [, day, month, shortYear, hour, minute, second] = rfc850;
    return instant({
      year: String(fullYear(Number(shortYear), wallMs)),
      month: monthOf(month),
      day,
      hour,
      minute,
      second,
    });
  }
  const asctime = ASCTIME.exec(text);
  if (!asctime) return null;
  const [, month, day, hour, minute, second, year] = asctime;
  return instant({ year, month: monthOf(month), day, hour, minute, second });
}

/** A two-digit year that would be more than 50 years ahead is in the past (RFC 9110, section 5.6.7). */
function fullYear(shortYear: number, wallMs: number): number {
  const thisYear = new Date(wallMs).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + shortYear;
  return year > thisYear + 50 ? year - 100 : year;
}

/** Returns 1 to 12, or 0 for an unknown name. */
function monthOf(name: string | undefined): number {
  return MONTHS.indexOf(name?.toLowerCase() ?? '') + 1;
}

interface Parts {
  readonly year: string | undefined;
  readonly month: number;
  readonly day: string | undefined;
  readonly hour?: string | undefined;
  readonly minute?: string | undefined;
  readonly second?: string | undefined;
  readonly fraction?: string | undefined;
  readonly zone?: string | undefined;
}

/** Returns milliseconds since 1970, or null if a part is out of range: 31 February is not a date. */
function instant(parts: Parts): number | null {
  const [year, day] = [Number(parts.year), Number(parts.day)];
  const [hour, minute, second] = [Number(parts.hour ?? 0), Number(parts.minute ?? 0), Number(parts.second ?? 0)];
  const offsetMinutes = zoneMinutes(parts.zone);
  // Second 60 is a leap second, which RFC 3339 allows at the end of an hour; it becomes the next second.
  if (offsetMinutes === null || hour > 23 || minute > 59 || second > (minute === 59 ? 60 : 59)) return null;
  const date = new Date(0);
  // Unlike Date.UTC, this does not move the years 0 to 99 to 1900.
  date.setUTCFullYear(year, parts.month - 1, day);
  if (date.getUTCMonth() !== parts.month - 1 || date.getUTCDate() !== day) return null;
  const milliseconds = Number((parts.fraction ?? '').slice(1, 4).padEnd(3, '0'));
  return date.getTime() + ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1000 + milliseconds;
}

/** Returns minutes: 120 for `+02:00`, 0 for UTC, a name or none; null if out of range. */
function zoneMinutes(zone: string | undefined): number | null {
  const match = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone ?? '');
  if (!match) return 0;
  const [hours, minutes] = [Number(match[2]), Number(match[3] ?? 0)];
  if (hours > 23 || minutes > 59) return null;
  return (match[1] === '-' ? -1 : 1) * (hours * 60 + minutes);
}
