// Lines of `status` and the size of the terminal → lines that fit. Pure.
import type { Colour } from '../verb.ts';

export interface Line {
  readonly text: string;
  readonly colour?: Colour;
  /** Lines of one event or sink have the same entry. If there is no room for all of them, the last entries go. */
  readonly entry?: { readonly of: 'events' | 'sinks'; readonly index: number };
}

export interface ScreenSize {
  readonly columns: number;
  /** Infinity: as many as there are. */
  readonly rows: number;
}

/** How much deeper the rest of a long line begins. */
const INDENT = 4;

/**
 * Wraps long lines, and replaces the last events and sinks by `… 190 more` if the lines are more than the rows. One row
 * is left for the prompt. Sinks get half of the rows if both need more.
 */
export function fitScreen(lines: readonly Line[], { columns, rows }: ScreenSize): readonly Line[] {
  const wrapped = lines.flatMap((line) => wrap(line.text, columns).map((text) => ({ ...line, text })));
  const count = (of?: 'events' | 'sinks') => wrapped.filter(({ entry }) => entry?.of === of).length;
  const room = Math.max(0, rows - 1 - count());
  if (count('events') + count('sinks') <= room) return wrapped;
  const sinks = Math.min(count('sinks'), Math.max(Math.floor(room / 2), room - count('events')));
  return short(short(wrapped, 'sinks', sinks), 'events', room - sinks);
}

/** Keeps the first entries of a kind in at most so many lines, and one entry at least. */
function short(lines: readonly Line[], of: 'events' | 'sinks', most: number): readonly Line[] {
  const own = lines.filter(({ entry }) => entry?.of === of);
  if (own.length <= most) return lines;
  const last = own.findLast((line, position) => position < Math.max(1, most - 1) && isLastOf(own, position, line));
  const kept = last?.entry?.index ?? 0;
  const dropped = (own.at(-1)?.entry?.index ?? 0) - kept;
  if (dropped === 0) return lines;
  const more = {
    text: `  … ${dropped} more ${dropped === 1 ? of.slice(0, -1) : of}; --all shows ${dropped === 1 ? 'it' : 'them'}`,
  };
  const end = lines.findLastIndex(({ entry }) => entry?.of === of && entry.index === kept) + 1;
  return [...lines.slice(0, end), more, ...lines.slice(end).filter(({ entry }) => entry?.of !== of)];
}

/** Whether this line is the last one of its entry. */
function isLastOf(lines: readonly Line[], position: number, { entry }: Line): boolean {
  return lines[position + 1]?.entry?.index !== entry?.index;
}

/** Breaks a long line between cells if there is a place in the second half, else between words. */
export function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  const indent = ' '.repeat(Math.min(text.length - text.trimStart().length + INDENT, Math.floor(columns / 2)));
  let rest = text;
  while (rest.length > columns) {
    const place = [rest.lastIndexOf('  ', columns), rest.lastIndexOf(' ', columns)].find((at) => at > columns / 2);
    const end = place ?? columns;
    lines.push(rest.slice(0, end).trimEnd());
    rest = `${indent}${rest.slice(end).trimStart()}`;
  }
  return [...lines, rest];
}
