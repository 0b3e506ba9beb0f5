// Mutants and entries, made up here → scores, survivors and stale entries, and their report.
import assert from 'node:assert/strict';
import test from 'node:test';
import { isGood, judge, type Mutant } from './judge.ts';
import { byFolder } from './options.ts';
import { linesOf, summaryOf } from './report.ts';

const FOLDER = { name: 'changes', tests: [], least: 75 };

function mutant(replacement: string, status: string, file = 'src/changes/diff.ts'): Mutant {
  return {
    file,
    lineNumber: 7,
    line: 'if (a > b) {',
    original: 'a > b',
    mutator: 'EqualityOperator',
    replacement,
    status,
  };
}

function entry(replacement: string, file?: string) {
  const { status, lineNumber, ...texts } = mutant(replacement, '', file);
  return { ...texts, reason: 'both end in the same place' };
}

const MUTANTS = [
  mutant('true', 'Killed'),
  mutant('false', 'Timeout'),
  mutant('a <= b', 'RuntimeError'),
  mutant('a >= b', 'Survived'),
  mutant('{}', 'NoCoverage'),
];

test('a score counts what a test found, and leaves out what is judged equal', () => {
  const strict = judge(FOLDER, MUTANTS, []);
  assert.deepEqual([strict.score, strict.equal, strict.survivors.length, isGood(strict)], [60, 0, 2, false]);
  const judged = judge(FOLDER, MUTANTS, [entry('a >= b')]);
  assert.deepEqual([judged.score, judged.equal, judged.survivors.length, isGood(judged)], [75, 1, 1, true]);
});

test('an entry that matches no survivor makes the run fail, unless its file was not mutated', () => {
  const { stale, score } = judge(FOLDER, MUTANTS, [
    entry('true'),
    entry('gone'),
    entry('gone', 'src/changes/epoch.ts'),
  ]);
  assert.deepEqual(
    stale.map(({ replacement }) => replacement),
    ['true', 'gone'],
  );
  assert.equal(score, 60);
  assert.equal(isGood({ ...judge(FOLDER, [mutant('true', 'Killed')], [entry('true')]) }), false);
});

test('a survivor is printed with its place, and as the entry that would judge it', () => {
  const [place = '', line = ''] = linesOf(judge(FOLDER, MUTANTS, []));
  assert.equal(place, 'src/changes/diff.ts:7 survived: EqualityOperator');
  assert.deepEqual(JSON.parse(line), { ...entry('a >= b'), reason: '' });
  assert.equal(
    summaryOf(judge(FOLDER, MUTANTS, [])),
    'changes: 60.0 % of 5 mutants, 0 equal, 2 left to judge; at least 75 %: failed',
  );
});

test('a score is not rounded up to one that was not reached', () => {
  const almost = [...Array.from({ length: 9_499 }, () => mutant('true', 'Killed')), ...Array(501).fill(MUTANTS[3])];
  assert.match(summaryOf(judge({ ...FOLDER, least: 95 }, almost, [])), /^changes: 94\.9 % .*: failed$/);
});

test('files outside the scored folders are not mutated', () => {
  assert.deepEqual(
    byFolder([
      'src/auth/jwt.ts',
      'src/cli.ts',
      'test/unit/auth/jwt.test.ts',
      'src/changes/diff.ts',
      'src/auth/README.md',
    ]).map(({ name, files }) => [name, ...files]),
    [
      ['changes', 'src/changes/diff.ts'],
      ['auth', 'src/auth/jwt.ts'],
    ],
  );
});
