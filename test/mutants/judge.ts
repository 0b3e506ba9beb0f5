// The mutants of a folder, and those that are judged equal → its score, and what is left.
import type { ScoredFolder } from './folders.ts';

/** One change that StrykerJS made to a file, such as `>` for `>=`. */
export interface Mutant {
  /** Path from the root. */
  readonly file: string;
  readonly lineNumber: number;
  /** The text of its first line, without indentation. */
  readonly line: string;
  /** The code that it replaces; white space is one space. */
  readonly original: string;
  /** StrykerJS' name of the kind of change: https://stryker-mutator.io/docs/mutation-testing-elements/supported-mutators */
  readonly mutator: string;
  readonly replacement: string;
  /** StrykerJS' word. `Killed`: a test failed. `Survived`: none did. `NoCoverage`: no test reaches it. */
  readonly status: string;
}

/** A survivor that no test can find, because the product behaves the same with it. It is found by its texts, not by its line number. */
export interface EqualMutant extends Pick<Mutant, 'file' | 'line' | 'original' | 'mutator' | 'replacement'> {
  /** Why nobody outside can see a difference, in one sentence. */
  readonly reason: string;
}

export interface Judgement {
  readonly folder: ScoredFolder;
  readonly mutants: number;
  readonly equal: number;
  /** Percentage of the mutants that are not equal. */
  readonly score: number;
  /** Neither found by a test nor judged equal. */
  readonly survivors: readonly Mutant[];
  /** Entries of the list that match no survivor any more: a test finds it now, or the line has changed. */
  readonly stale: readonly EqualMutant[];
}

const SURVIVED: ReadonlySet<string> = new Set(['Survived', 'NoCoverage']);

/** `equal` may have entries of other files than the mutated ones; they are left alone. */
export function judge(folder: ScoredFolder, mutants: readonly Mutant[], equal: readonly EqualMutant[]): Judgement {
  const files = new Set(mutants.map(({ file }) => file));
  const judged = new Map(equal.filter(({ file }) => files.has(file)).map((entry) => [keyOf(entry), entry]));
  const alive = mutants.filter(({ status }) => SURVIVED.has(status));
  const survivors = alive.filter((mutant) => !judged.has(keyOf(mutant)));
  const counted = mutants.length - (alive.length - survivors.length);
  const matched = new Set(alive.map(keyOf));
  return {
    folder,
    mutants: mutants.length,
    equal: alive.length - survivors.length,
    score: counted === 0 ? 100 : (100 * (counted - survivors.length)) / counted,
    survivors,
    stale: [...judged].filter(([key]) => !matched.has(key)).map(([, entry]) => entry),
  };
}

export function isGood({ score, folder, stale }: Judgement): boolean {
  return score >= folder.least && stale.length === 0;
}

function keyOf({ file, line, original, mutator, replacement }: Omit<EqualMutant, 'reason'>): string {
  return JSON.stringify([file, line, original, mutator, replacement]);
}
