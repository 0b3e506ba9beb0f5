// A Markdown page of the repository → its code blocks with headings and words, and its tables.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface CodeBlock {
  /** Without its number signs. */
  readonly heading: string;
  readonly language: string;
  /** The words after the language, such as `start=bridge ready=8700`; the value of a word without `=` is empty. */
  readonly words: ReadonlyMap<string, string>;
  readonly text: string;
}

/** The code blocks of a page, in its order. `path` starts at the repository's root. */
export function codeBlocksOf(path: string): readonly CodeBlock[] {
  const page = textOf(path);
  let heading = '';
  const blocks: CodeBlock[] = [];
  for (const [, title, language, words, text] of page.matchAll(/^#+ (.+)$|^```(\w+)(?: (.+))?\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    else blocks.push({ heading, language: language ?? '', words: wordsIn(words ?? ''), text: text ?? '' });
  }
  return blocks;
}

/**
 * The rows of the table below a heading, as their cells. `path` starts at the repository's root.
 * @throws if there is no such heading
 */
export function tableBelow(path: string, heading: string): readonly (readonly string[])[] {
  const section = textOf(path)
    .split(/^#+ /m)
    .find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`${path} has no section "${heading}"`);
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) => line.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, '')));
}

function textOf(path: string): string {
  return readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
}

function wordsIn(info: string): ReadonlyMap<string, string> {
  const words = info.split(' ').filter((word) => word !== '');
  return new Map(words.map((word) => [word.replace(/=.*/, ''), /=(.*)/.exec(word)?.[1] ?? '']));
}
