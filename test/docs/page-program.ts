// A program that a page shows → a file in a folder that has the packages of this project.
import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { folderOf } from '../support/folder.ts';
import { codeBlocksOf } from './markdown-page.ts';

export interface PageProgram {
  /** From the root of the repository. */
  readonly page: string;
  readonly language: string;
  /** The file's name. */
  readonly file: string;
  /** Of the section, if the page has several programs in the language. */
  readonly heading?: string;
}

/** Writes the program, which must be the only one, and returns its path. */
export function writeProgram(t: TestContext, { page, language, file, heading }: PageProgram): string {
  const blocks = codeBlocksOf(page).filter(
    (each) => each.language === language && each.heading === (heading ?? each.heading),
  );
  assert.equal(blocks.length, 1, `${page} has ${blocks.length} programs in ${language}`);
  const folder = folderOf(t);
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, file), blocks[0]?.text ?? '');
  return join(folder, file);
}
