// compileGlobs and globFault: what globs match, in what time, and which signs are refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileGlobs, globFault } from '../../../src/conditions/globs.ts';

function matches(glob: string, name: string): boolean {
  return compileGlobs([glob]).any([name]);
}

test('a star matches any text, a question mark any one character, everything else itself', () => {
  const matching = [
    'web_0',
    'web_*',
    '*_0',
    'w*_*0',
    'web_?',
    '?????',
    '*',
    '**',
    '?*?',
    'web_0*',
    '*web_0',
    '*eb*',
    'w?b*',
  ];
  for (const glob of matching) assert.equal(matches(glob, 'web_0'), true, glob);
  const others = ['web_', 'eb_0', 'web_00', 'web_0?', '?web_0', '????', '??????', 'web_0*0', '*1*', 'w*w*', ''];
  for (const glob of others) assert.equal(matches(glob, 'web_0'), false, glob);
  for (const [glob, name] of [
    ['*ab*ab', 'ab'],
    ['a*a', 'a'],
    ['?', ''],
  ] as const)
    assert.equal(matches(glob, name), false, glob);
  assert.equal(matches('*', ''), true);
});

test('a name is not a path and not a pattern: a star matches dots, slashes and line ends too, and other characters match themselves', () => {
  for (const name of ['.hidden', 'a/b', '/a', 'a\nb', 'a.b', '[x]', '\\', '{a,b}', '(', '!a', '$^|+']) {
    assert.equal(matches('*', name), true, name);
    assert.equal(matches('?'.repeat(name.length), name), true, name);
  }
  assert.equal(matches('a.b', 'axb'), false);
  for (const name of ['a|b', 'a+b', 'a$', '^a', './a', 'a,b', '#a', '-', '~'])
    assert.equal(matches(name, name), true, name);
});

test('letter case does not count, and a character is a code point, also beyond the first 65,536', () => {
  for (const [glob, name] of [
    ['WEB_?', 'web_A'],
    ['web_*', 'WEB_0'],
    ['größe', 'GRÖSSE'.replace('SS', 'ß')],
    ['ÄÖ?', 'äöü'],
    ['a?b', 'a😀b'],
    ['??', '😀😀'],
    ['𐐀', '𐐨'],
    ['?x', 'İx'],
    ['σ*', 'ΣΑΣ'],
  ] as const)
    assert.equal(matches(glob, name), true, `${glob} ${name}`);
  for (const [glob, name] of [
    ['????', '😀😀'],
    ['a??b', 'a😀b'],
    ['?', 'é'.normalize('NFD')],
  ] as const)
    assert.equal(matches(glob, name), false, `${glob} ${name}`);
});

test('any name is enough for any, each of at least one for every; one glob of several is enough for a name', () => {
  const { any, every } = compileGlobs(['web_*', 'db_?']);
  const judged = (names: readonly string[]) => [any(names), every(names)];
  assert.deepEqual(judged(['web_0', 'db_1']), [true, true]);
  assert.deepEqual(judged(['web_0', 'cache_1']), [true, false]);
  assert.deepEqual(judged(['cache_1']), [false, false]);
  assert.deepEqual(judged([]), [false, false]);
  assert.deepEqual(compileGlobs([]).any(['web_0']), false);
});

/** By the definition: each pair of a name's beginning and a glob's beginning once. Signs of one UTF-16 unit alone. */
function oracle(glob: string, name: string): boolean {
  let row = [true, ...Array.from(name, () => false)];
  for (const sign of glob.toLowerCase()) {
    const next = [sign === '*' && row[0] === true];
    for (const [index, character] of [...name.toLowerCase()].entries())
      next.push(
        sign === '*'
          ? row[index + 1] === true || next[index] === true
          : row[index] === true && (sign === '?' || sign === character),
      );
    row = next;
  }
  return row.at(-1) === true;
}

test('they match as defined, for any glob and any name', () => {
  const few = (signs: string, maxLength: number) => fc.string({ unit: fc.constantFrom(...signs), maxLength });
  const pairs = fc.oneof(
    fc.tuple(few('ab*?', 12), few('abAB', 12)),
    fc.tuple(few('a*?', 90), few('aab', 100)),
    fc.tuple(fc.string({ maxLength: 40 }), fc.string({ maxLength: 40 })),
    // Made from the name, so that many match.
    few('abc', 80).chain((name) =>
      fc.tuple(
        fc
          .array(fc.constantFrom('same', 'same', 'one', 'star', 'gap'), {
            minLength: name.length,
            maxLength: name.length,
          })
          .map((ways) =>
            [...name]
              .map((sign, at) => ({ same: sign, one: '?', star: `*${sign}`, gap: '*' })[ways[at] as string])
              .join(''),
          ),
        fc.constant(name),
      ),
    ),
  );
  fc.assert(
    fc.property(pairs, ([glob, name]) =>
      assert.equal(matches(glob, name), oracle(glob, name), JSON.stringify([glob, name])),
    ),
    { numRuns: 3000 },
  );
});

test('64 globs of 256 characters and a thousand names of 64 take little time, for any content', () => {
  const names = Array.from({ length: 1000 }, (_, index) => `${'a'.repeat(60)}${String(index).padStart(4, '0')}`);
  const hard = ['*?', '*a', '*a?', '*aa', '?*', '*a*?', '**', 'a*a?*'].map(
    (part) => `${part.repeat(256).slice(0, 254)}!x`,
  );
  const globs = Array.from({ length: 8 }, (_, index) => hard.map((glob) => `${glob.slice(index)}y`)).flat();
  const { any } = compileGlobs(globs);
  const fromMs = performance.now();
  assert.equal(any(names), false);
  // The regular expressions that stood here before did not come to their end within a day.
  assert.ok(performance.now() - fromMs < 5000);
  // What a caller could hide behind: those whose shortest match fits the name.
  const fitting = Array.from({ length: 64 }, (_, index) => `${'*a?*'.repeat(15)}*${index}!x`);
  assert.equal(compileGlobs(fitting).any(names), false);
  assert.ok(performance.now() - fromMs < 10_000);
});

test('characters with a meaning in other globs are refused, and no others', () => {
  for (const glob of ['web_[0-9]', 'web]', '{a,b}', 'a}', '(a|b)', 'a)', 'web\\*', '!web_*', '+(a)'])
    assert.match(globFault(glob) ?? '', /^(holds [[\]{}()\\]|begins with !), /, glob);
  for (const glob of ['web_*', '*', '?', 'a!', '', 'größe', '|', '+', '@', '$'])
    assert.equal(globFault(glob), null, glob);
});
