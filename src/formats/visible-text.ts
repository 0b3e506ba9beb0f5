// Text that others chose → the same, safe for a terminal, a log line or JSON, and not too long.

/** C0, DEL and C1, what turns the direction of writing, and the line ends of Unicode; without tab and line feed. */
export const CONTROLS = /[[\p{Cc}\p{Bidi_Control}\u2028\u2029]--[\n\t]]/gv;

/** Of one line or several, JSON too: there it stays the same JSON, since what JSON leaves as it is stands in its texts alone. */
export function visible(text: string): string {
  return text.replace(CONTROLS, escaped);
}

/** What shall stay one line. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n');
}

/** One line in which each of those characters, tab and line feed too, is a blank: for a sentence that people read and machines search. */
export function asBlanks(text: string): string {
  return text.replace(CONTROLS, ' ').replace(/[\n\t]/g, ' ');
}

export const ELLIPSIS = '…';

/** At most so many UTF-16 units, the `…` at its end among them. No character is cut in two. @param most at least 1 */
export function shortenedText(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = most - ELLIPSIS.length;
  const isInside = (text.codePointAt(end - 1) ?? 0) > 0xffff;
  return `${text.slice(0, isInside ? end - 1 : end)}${ELLIPSIS}`;
}

/** As JSON does. */
function escaped(character: string): string {
  if (character === '\r') return '\\r';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
