import assert from 'node:assert/strict';
import test from 'node:test';
import { REFUSALS } from '../../../src/approvals/requests/answer.ts';
import { PROBLEM_TITLES } from '../../../src/http/problem.ts';

test('a problem type has one title, whichever part of the bridge finds it', () => {
  const all = [...Object.entries(PROBLEM_TITLES), ...Object.entries(REFUSALS).map(([type, { title }]) => [type, title] as const)];
  const titles = Map.groupBy(all, ([type]) => type);
  for (const [type, found] of titles) assert.equal(new Set(found.map(([, title]) => title)).size, 1, type);
  assert.equal(new Set([...titles.values()].map(([first]) => first?.[1])).size, titles.size, 'and two types have not the same');
});
