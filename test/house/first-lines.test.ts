// Every .ts and .js file → its first line is a comment that says in → out, in 100 characters.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const MOST_CHARACTERS = 100;

const firstLines = globSync(['*.ts', '{src,adapters,test,deploy}/**/*.{ts,js}'], { cwd: ROOT }).map((path) => {
  const [line = ''] = readFileSync(join(ROOT, path), 'utf8')
    .replace(/^#!.*\n/, '')
    .split('\n', 1);
  return { path, line };
});

test('the first line of each file is a comment that says what comes in and what goes out', () => {
  assert.ok(firstLines.length > 900, 'the files were not found');
  const silent = firstLines.filter(({ line }) => !/^\/\/ .{20,}/.test(line));
  assert.deepEqual(silent, []);
});

test(`no first line is longer than ${MOST_CHARACTERS} characters`, () => {
  const long = firstLines.filter(({ line }) => [...line].length > MOST_CHARACTERS);
  assert.deepEqual(long, []);
});
