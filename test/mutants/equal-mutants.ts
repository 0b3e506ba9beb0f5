// The folder equal/ → the mutants that are judged equal, by the folder of src/ that they are of.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EqualMutant } from './judge.ts';

/** Each line of the file is one JSON object. None if the folder has no file. */
export function equalMutantsOf(folder: string): readonly EqualMutant[] {
  const path = join(import.meta.dirname, 'equal', `${folder}.jsonl`);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line): EqualMutant => JSON.parse(line));
}
