// Counts of parts, arguments → the last line of a run, and the options and back.
import assert from 'node:assert/strict';
import test from 'node:test';
import { hasFailed, lastLine, summed } from './last-line.ts';
import { argumentsOf, readArguments } from './options.ts';
import { FAULTS, NOTHING } from './part.ts';

test('the last line has the sums of the parts, in the order of the page', () => {
  const counts = summed([
    { ...NOTHING, maintenances: 7, kills: 2, digest: 'aa' },
    { ...NOTHING, kills: 3, lost: 1 },
  ]);
  assert.match(
    lastLine({ seed: 5 }, counts),
    /^proof seed=5 maintenances=7 kills=5 lost=1 invented=0 altered=0 misordered=0 forbidden=0 twice=0 digest=[0-9a-f]{64}$/,
  );
});

test('each kind of fault makes a run fail, and a run without a fault does not', () => {
  assert.equal(hasFailed(NOTHING), false);
  for (const fault of FAULTS) assert.equal(hasFailed({ ...NOTHING, [fault]: 1 }), true, fault);
});

test('what no count counts makes a run fail, too', () => {
  assert.equal(hasFailed({ ...NOTHING, problems: ['the process died'] }), true);
  assert.deepEqual(summed([{ ...NOTHING, problems: ['one'] }, NOTHING, { ...NOTHING, problems: ['two'] }]).problems, [
    'one',
    'two',
  ]);
});

test('two parts that share a size are repeated by the larger one', () => {
  const repeating = (rounds: number, cases: number) => ({ ...NOTHING, repeatedBy: { rounds, cases } });
  assert.deepEqual(summed([repeating(3, 10), repeating(2, 20), NOTHING]).repeatedBy, { rounds: 3, cases: 20 });
});

test('the digest is over those of the deterministic parts alone', () => {
  const digestOf = (...digests: (string | null)[]) => summed(digests.map((digest) => ({ ...NOTHING, digest }))).digest;
  assert.equal(digestOf('aa', null, 'bb'), digestOf('aa', 'bb'));
  assert.notEqual(digestOf('aa', 'bb'), digestOf('bb', 'aa'));
});

test('the printed arguments give the same options again', () => {
  const { runs } = readArguments(['--seed', '9', '--long', '--kills', '4', '--cases', '7']);
  const [run] = runs;
  assert.ok(run);
  assert.deepEqual(readArguments(argumentsOf(run).split(' ')).runs, [run]);
  assert.deepEqual([run.seed, run.isLong, run.kills, run.cases, run.minutes], [9, true, 4, 7, null]);
});

test('--seeds gives one run for each seed; a value that is no whole number is refused', () => {
  assert.deepEqual(
    readArguments(['--seed', '3', '--seeds', '3']).runs.map(({ seed }) => seed),
    [3, 4, 5],
  );
  assert.throws(() => readArguments(['--kills', 'many']), /--kills takes a whole number/);
  assert.throws(() => readArguments(['--sed', '1']));
});
