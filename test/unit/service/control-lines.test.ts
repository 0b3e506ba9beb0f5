// src/service/control-lines.ts: lines of standard input in place of signals.
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { followControlLines } from '../../../src/service/control-lines.ts';

/** What was asked for by these chunks, in order. */
async function asked(chunks: readonly string[], isClosed = false): Promise<readonly string[]> {
  const words: string[] = [];
  const input = new PassThrough();
  followControlLines(input, { stop: () => words.push('stop'), reload: () => words.push('reload') });
  for (const chunk of chunks) input.write(chunk);
  if (isClosed) input.end();
  await new Promise(setImmediate);
  return words;
}

test('stop and reload are read from whole lines, with either line end and in any chunks', async () => {
  assert.deepEqual(await asked(['reload\nrel', 'oad\r', '\nstop\n']), ['reload', 'reload', 'stop']);
});

test('other lines, and a line without an end, are ignored', async () => {
  assert.deepEqual(await asked(['\nStop\nstop now\nrestart\nstop']), []);
});

test('the end of the input stops', async () => {
  assert.deepEqual(await asked([], true), ['stop']);
});

test('standard input that cannot be read stops', async () => {
  const words: string[] = [];
  const input = new PassThrough();
  followControlLines(input, { stop: () => words.push('stop'), reload: () => words.push('reload') });
  input.destroy(new Error('EBADF'));
  await new Promise(setImmediate);
  assert.ok(words.includes('stop'));
});
