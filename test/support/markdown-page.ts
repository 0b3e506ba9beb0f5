// A Markdown page of the repository → its code blocks, each with the heading that it stands under.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface CodeBlock {
  /** Without its number signs. */
  readonly heading: string;
  readonly language: string;
  readonly text: string;
}

/** The code blocks of a page, in its order. `path` starts at the repository's root. */
export function codeBlocksOf(path: string): readonly CodeBlock[] {
  const page = readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
  let heading = '';
  const blocks: CodeBlock[] = [];
  for (const [, title, language, text] of page.matchAll(/^#+ (.+)$|^```(\w+)\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    else blocks.push({ heading, language: language ?? '', text: text ?? '' });
  }
  return blocks;
}
