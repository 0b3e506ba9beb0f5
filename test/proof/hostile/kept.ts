// kept-cases.jsonl → every input that failed once, one a line: its target, its bytes, what it did.
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { mulberry32 } from '../../support/mulberry32.ts';
import { seedOfCase } from './draw.ts';
import { Generator } from './generate.ts';
import { TARGETS } from './targets.ts';
import type { Failure } from './trial.ts';

const FILE = join(import.meta.dirname, 'kept-cases.jsonl');

/** An input that failed once. In Base64. */
export type KeptCase = Pick<Failure, 'target' | 'input' | 'why'>;

/** The cases of all times, the oldest first. In the file, inputs are compressed. */
export function keptCases(): readonly KeptCase[] {
  return readFileSync(FILE, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { input, ...kept } = JSON.parse(line) as KeptCase;
      return { ...kept, input: inflateRawSync(Buffer.from(input, 'base64')).toString('base64') };
    });
}

/** Adds the cases that are new, with the first line of what they did. */
export function keep(failures: readonly KeptCase[]): void {
  const known = new Set(keptCases().map(({ target, input }) => `${target} ${input}`));
  for (const failure of failures) {
    const name = `${failure.target} ${failure.input}`;
    if (!known.has(name)) appendFileSync(FILE, `${lineOf(failure)}\n`);
    known.add(name);
  }
}

/** The line of the file for one case. */
export function lineOf({ target, input, why }: KeptCase): string {
  const deflated = deflateRawSync(Buffer.from(input, 'base64')).toString('base64');
  return JSON.stringify({ target, why: why.split('\n')[0]?.slice(0, 200), input: deflated });
}

/** The input of one case, in Base64: made again from its seed and number. */
export function inputOf(
  { target: name, seed }: { readonly target: string; readonly seed: number },
  index: number,
): string {
  const target = TARGETS.find((one) => one.name === name);
  if (target === undefined) throw new Error(`no target ${name}`);
  return new Generator(target.material).input(mulberry32(seedOfCase(seed, name, index))).toString('base64');
}
