// Texts of others → texts of a known width on a terminal, without control characters.
import { visibleLine } from '../../formats/visible-text.ts';

/** Characters that a terminal draws in two columns: East Asian wide ones, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3ffff}]/u;
/** Characters without a width: they join others, or cannot be seen. */
const WITHOUT_WIDTH = /[\p{M}\p{Cf}]/gv;

/** Returns a text on one line, without characters that could spoil the columns. */
export function plain(text: string): string {
  return visibleLine(text).replaceAll('\t', ' ').replace(WITHOUT_WIDTH, '');
}

/** Returns a text of others in exactly this many columns: cut with `…`, or padded with blanks. */
export function cell(text: string, width: number): string {
  return fitted(plain(text), width);
}

/** Does the same for a text that is safe already. */
export function fitted(text: string, width: number): string {
  let shown = '';
  let columns = 0;
  for (const character of text) {
    const wide = widthOf(character);
    if (columns + wide > width) return `${cutTo(shown, width - 1)}…`;
    shown += character;
    columns += wide;
  }
  return shown + ' '.repeat(width - columns);
}

/** Returns the lines of a text, broken at blanks if it has some. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of plain(text).split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (columnsOf(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (columnsOf(line) > width) {
      const part = cutTo(line, width);
      lines.push(part);
      line = line.slice(part.trimEnd().length);
    }
  }
  return [...lines, line];
}

function cutTo(text: string, width: number): string {
  let shown = '';
  let columns = 0;
  for (const character of text) {
    columns += widthOf(character);
    if (columns > width) break;
    shown += character;
  }
  return shown + ' '.repeat(Math.max(0, width - columnsOf(shown)));
}

export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

function widthOf(character: string): number {
  return character < '\u1100' ? 1 : WIDE.test(character) ? 2 : 1;
}
