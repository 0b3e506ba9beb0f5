// Text that others chose → the same, safe for a terminal, a log line or JSON.

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

/** As JSON does. */
function escaped(character: string): string {
  if (character === '\r') return '\\r';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
