// kept-cases.jsonl → every input that failed once, one a line: its target, its bytes, what it did.
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Failure } from './trial.ts';

const FILE = join(import.meta.dirname, 'kept-cases.jsonl');

/** The cases of all times, the oldest first. In the file, inputs are compressed. */
export function keptCases(): readonly Failure[] {
  return readFileSync(FILE, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { input, ...kept } = JSON.parse(line) as Failure;
      return { ...kept, input: inflateRawSync(Buffer.from(input, 'base64')).toString('base64') };
    });
}

/** Adds the cases that are new, with the first line of what they did. */
export function keep(failures: readonly Failure[]): void {
  const known = new Set(keptCases().map(({ target, input }) => `${target} ${input}`));
  for (const { target, input, why } of failures) {
    if (known.has(`${target} ${input}`)) continue;
    known.add(`${target} ${input}`);
    const deflated = deflateRawSync(Buffer.from(input, 'base64')).toString('base64');
    appendFileSync(FILE, `${JSON.stringify({ target, why: why.split('\n')[0]?.slice(0, 200), input: deflated })}\n`);
  }
}
