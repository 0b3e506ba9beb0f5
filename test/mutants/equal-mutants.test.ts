// The mutants that are judged equal → each has a reason, and its code still stands in its file.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { equalMutantsOf } from './equal-mutants.ts';
import { SCORED } from './folders.ts';

const ROOT = join(import.meta.dirname, '../..');

for (const { name } of SCORED) {
  test(`each equal mutant of ${name} has a reason of one sentence, and its line stands in its file`, () => {
    for (const { file, line, original, reason } of equalMutantsOf(name)) {
      assert.ok(file.startsWith(`src/${name}/`), file);
      const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
      assert.ok(
        lines.some((each) => each.trim() === line),
        `${file} has no line ${line}`,
      );
      assert.match(reason, /^[A-Z].{10,}\.$/);
      assert.ok(original !== '');
    }
  });
}

test('no mutant is judged twice', () => {
  const all = SCORED.flatMap(({ name }) => equalMutantsOf(name)).map(({ reason: _, ...texts }) =>
    JSON.stringify(texts),
  );
  assert.deepEqual(
    all.filter((each, index) => all.indexOf(each) !== index),
    [],
  );
});
