// The fields of a log line → the same fields, with long texts and lists cut.

/** The length of texts and keys, in UTF-16 units. */
const LONGEST = 512;
const MOST_MEMBERS = 64;
/** Deeper values are left out. */
const DEEPEST = 4;

/** Skips errors: their serializer cuts them. */
export function cutTexts(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, cutValue(value, 1)]));
}

/** Returns the beginning of a text, and how much is missing. */
export function cutText(text: string, longest = LONGEST): string {
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}… (${text.length - longest} more)`;
}

function cutValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cutText(value);
  if (typeof value !== 'object' || value === null || value instanceof Error || value instanceof Date) return value;
  if (depth > DEEPEST) return '…';
  if (Array.isArray(value)) return cutList(value.slice(0, MOST_MEMBERS), value.length, depth);
  const members = Object.entries(value);
  const kept = members.slice(0, MOST_MEMBERS).map(([name, member]) => [cutText(name), cutValue(member, depth + 1)]);
  return Object.fromEntries(
    members.length > MOST_MEMBERS ? [...kept, ['…', `${members.length - MOST_MEMBERS} more`]] : kept,
  );
}

function cutList(kept: readonly unknown[], length: number, depth: number): unknown[] {
  const members = kept.map((member) => cutValue(member, depth + 1));
  return length > kept.length ? [...members, `… (${length - kept.length} more)`] : members;
}
