// The arguments of `npm run mutants` → scores and survivors; exits with 1 if a score is too low.
import { equalMutantsOf } from './equal-mutants.ts';
import { isGood, type Judgement, judge } from './judge.ts';
import { readOptions } from './options.ts';
import { linesOf, summaryOf } from './report.ts';
import { mutantsOf } from './stryker.ts';

const log = (line: string) => void process.stdout.write(`${line}\n`);

const options = readOptions(process.argv.slice(2));
if (options.folders.length === 0) log('No file of a scored folder has changed. `--all` mutates all of them.');
const judgements: Judgement[] = [];
for (const folder of options.folders) {
  const judgement = judge(folder, await mutantsOf(folder, options), equalMutantsOf(folder.name));
  judgements.push(judgement);
  for (const line of linesOf(judgement)) log(line);
}
for (const judgement of judgements) log(summaryOf(judgement));
if (!judgements.every(isGood)) process.exitCode = 1;
