// Text from others → the same text, safe for a terminal, a log line or JSON, and not too long.

/** C0, DEL, C1, bidirectional controls and the line ends of Unicode, without tab and line feed. */
export const CONTROLS = /[[\p{Cc}\p{Bidi_Control}\u2028\u2029]--[\n\t]]/gv;

/**
 * Escapes the control characters of a text of one or several lines. JSON stays the same JSON, because it has such
 * characters only inside texts.
 */
export function visible(text: string): string {
  return text.replace(CONTROLS, escaped);
}

/** Does the same, and escapes line feeds, so that the text stays one line. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n');
}

/**
 * Replaces each control character, tab and line feed by a blank: for a sentence that people read and machines search.
 */
export function asBlanks(text: string): string {
  return text.replace(CONTROLS, ' ').replace(/[\n\t]/g, ' ');
}

export const ELLIPSIS = '…';

/**
 * Returns the text, or its beginning with `…` at the end. No character is cut in two.
 * @param most UTF-16 units, at least 1, with the `…`
 */
export function shortenedText(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = most - ELLIPSIS.length;
  const isInside = (text.codePointAt(end - 1) ?? 0) > 0xffff;
  return `${text.slice(0, isInside ? end - 1 : end)}${ELLIPSIS}`;
}

/** Escapes a character as JSON does. */
function escaped(character: string): string {
  if (character === '\r') return '\\r';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
