// The judgement of a folder → the lines that `npm run mutants` prints.
import { isGood, type Judgement } from './judge.ts';

/** Each survivor as an entry of the list of equal ones, whose reason is missing, after its place. */
export function linesOf({ survivors, stale }: Judgement): readonly string[] {
  return [
    ...survivors.flatMap(({ lineNumber, status, ...mutant }) => [
      `${mutant.file}:${lineNumber} ${status === 'NoCoverage' ? 'is reached by no test' : 'survived'}: ${mutant.mutator}`,
      `  ${JSON.stringify({ ...mutant, reason: '' })}`,
    ]),
    ...stale.map((entry) => `No survivor matches this entry any more; delete it: ${JSON.stringify(entry)}`),
  ];
}

/** `delivery: 96.2 % of 1530 mutants, 40 equal, 57 left to judge; at least 95 %` */
export function summaryOf(judgement: Judgement): string {
  const { folder, mutants, equal, score, survivors } = judgement;
  // Never rounded up to a score that it has not reached.
  const shown = (Math.floor(score * 10) / 10).toFixed(1);
  const found = `${folder.name}: ${shown} % of ${mutants} mutants, ${equal} equal, ${survivors.length} left to judge`;
  return `${found}; at least ${folder.least} %${isGood(judgement) ? '' : ': failed'}`;
}
