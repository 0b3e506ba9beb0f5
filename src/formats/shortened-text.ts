// A text and a length → the text, or its beginning and a sign that more is missing.

export const ELLIPSIS = '…';

/** At most so many UTF-16 units, the `…` at its end among them. No character is cut in two. @param most at least 1 */
export function shortenedText(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = most - ELLIPSIS.length;
  const isInside = (text.codePointAt(end - 1) ?? 0) > 0xffff;
  return `${text.slice(0, isInside ? end - 1 : end)}${ELLIPSIS}`;
}
