// The arguments of `npm run mutants` → scores and survivors; exits with 1 if a score is too low.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EqualMutant, isGood, type Judgement, judge } from './judge.ts';
import { readOptions } from './options.ts';
import { linesOf, summaryOf } from './report.ts';
import { mutantsOf } from './stryker.ts';

const log = (line: string) => void process.stdout.write(`${line}\n`);

const options = readOptions(process.argv.slice(2));
if (options.folders.length === 0) log('No file of a scored folder has changed. `--all` mutates all of them.');
const judgements: Judgement[] = [];
for (const folder of options.folders) {
  const judgement = judge(folder, await mutantsOf(folder, options), equalOf(folder.name));
  judgements.push(judgement);
  for (const line of linesOf(judgement)) log(line);
}
for (const judgement of judgements) log(summaryOf(judgement));
if (!judgements.every(isGood)) process.exitCode = 1;

/** One JSON object on each line. */
function equalOf(folder: string): readonly EqualMutant[] {
  const path = join(import.meta.dirname, 'equal', `${folder}.jsonl`);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line): EqualMutant => JSON.parse(line));
}
