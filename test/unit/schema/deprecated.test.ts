// A made-up schema with deprecated settings, and values → the settings in use; and the JSON Schema.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as v from 'valibot';
import { deprecated, usedDeprecations } from '../../../src/schema/deprecated.ts';
import { convertSchema } from '../../../src/schema/json-schema.ts';
import { flagOr } from '../../../src/schema/pieces.ts';

const MARK = { since: '0.3.0', until: '0.5.0', use: 'new' };
const TEXT = 'use new (deprecated since 0.3.0, goes no earlier than 0.5.0)';
const old = v.pipe(v.string(), v.description('The old one.'), deprecated(MARK));
const entry = v.strictObject({ old: v.exactOptional(old), kept: v.optional(v.string(), 'x') });
const SCHEMA = v.pipe(
  v.strictObject({
    withDefault: v.optional(v.pipe(v.string(), deprecated(MARK)), 'usual'),
    outside: v.pipe(v.optional(v.number(), 1), deprecated(MARK)),
    changed: v.exactOptional(
      v.pipe(
        v.string(),
        v.transform((text) => text.length),
        deprecated(MARK),
      ),
    ),
    mode: v.optional(v.pipe(v.picklist(['a', 'b']), v.description('How.'), deprecated({ ...MARK, value: 'b' })), 'b'),
    list: v.optional(v.array(entry), []),
    named: v.optional(v.record(v.string(), entry), {}),
    flag: v.optional(flagOr(entry, 'must be a flag or a mapping'), false),
    form: v.exactOptional(v.union([v.pipe(v.string(), deprecated(MARK)), entry])),
  }),
  v.transform((options) => options),
);

const pathsOf = (value: unknown) => usedDeprecations(SCHEMA, value, ['top']).map(({ path }) => path);

test('a file that writes no deprecated setting uses none, whatever the defaults are', () => {
  assert.deepEqual(usedDeprecations(SCHEMA, {}, ['top']), []);
  assert.deepEqual(usedDeprecations(SCHEMA, undefined, ['top']), []);
  assert.deepEqual(pathsOf({ mode: 'a', flag: true, list: [{ kept: 'y' }], form: { kept: 'y' } }), []);
});

const USES: readonly [value: unknown, path: string][] = [
  [{ withDefault: 'usual' }, 'top.withDefault'],
  [{ outside: 1 }, 'top.outside'],
  [{ changed: 'abc' }, 'top.changed'],
  [{ mode: 'b' }, 'top.mode'],
  [{ list: [{}, { old: 'x' }] }, 'top.list[1].old'],
  [{ named: { one: { old: 'x' } } }, 'top.named.one.old'],
  [{ flag: { old: 'x' } }, 'top.flag.old'],
  [{ form: 'text' }, 'top.form'],
  [{ form: { old: 'x' } }, 'top.form.old'],
];
for (const [value, path] of USES)
  test(`${JSON.stringify(value)} uses ${path}`, () =>
    assert.deepEqual(usedDeprecations(SCHEMA, value, ['top']), [{ path, message: TEXT }]));

test('the JSON Schema marks a deprecated key, and names a deprecated value in the description alone', () => {
  const { properties = {} } = convertSchema(SCHEMA, 'draft-07');
  for (const key of ['withDefault', 'outside', 'changed']) {
    assert.equal(properties[key]?.['deprecated'], true, key);
    assert.equal(properties[key]?.description, `Deprecated: ${TEXT}.`, key);
  }
  assert.equal(properties['list']?.items?.properties?.['old']?.description, `The old one. Deprecated: ${TEXT}.`);
  assert.equal(properties['mode']?.['deprecated'], undefined);
  assert.equal(properties['mode']?.description, `How. b is deprecated: ${TEXT}.`);
});
