// Configurations that are valid and probably a mistake → the warnings of `check`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { commandSink } from '../../../adapters/command/command.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { logWarnings, warningLine } from '../../../src/config/warnings.ts';
import { deprecated } from '../../../src/schema/deprecated.ts';
import { ADAPTERS, surroundings } from '../../support/config.ts';

function warningsOf(sinks: string, required = 'any'): readonly string[] {
  const approvers = '{ drain: { token: { env: T } }, backup: { token: { env: U } } }';
  const text = `version: 1\napprovals: { required: ${required}, approvers: ${approvers} }\nsinks:\n${sinks}`;
  const env = { T: 'correct-horse-battery-staple', U: 'another-horse-another-staple' };
  const read = readConfig(text, { ...surroundings(env), adapters: [...ADAPTERS, commandSink] });
  if ('faults' in read) assert.fail(JSON.stringify(read.faults));
  return read.warnings.map(({ path, message, isGrave }) => {
    assert.equal(isGrave, false);
    return `${path}: ${message}`;
  });
}

const sink = (name: string, more = '') => `  ${name}: { type: command, run: [/bin/true]${more} }\n`;
const DRAIN = sink('drain', ', approve: drain');
const HELD = sink('drain', ', approve: drain, hold: drain');

for (const [what, sinks, unwaited] of [
  ['one of three approves', DRAIN + sink('backup') + sink('notify'), 'backup, notify'],
  ['one holds, the other does not approve', HELD + sink('backup'), 'backup'],
  ['both approve, and neither holds', DRAIN + sink('backup', ', approve: backup'), 'drain, backup'],
] as const)
  test(`check warns that an event may start while programs run: ${what}`, () => {
    const [warning = '', ...more] = warningsOf(sinks);
    assert.deepEqual(more, []);
    assert.match(warning, /^approvals\.required: is any, so the first yes of a program starts the event/);
    assert.ok(warning.includes(`while these still run: ${unwaited}; `), warning);
  });

for (const [what, sinks, required] of [
  ['there is one program', DRAIN, 'any'],
  ['no program approves', sink('drain') + sink('backup'), 'any'],
  ['each holds', HELD + sink('backup', ', approve: backup, hold: backup'), 'any'],
  ['the others do not prepare', DRAIN + sink('undo', ', filter: { changes: [ended] }'), 'any'],
  ['the approvers are named', DRAIN + sink('backup'), '[drain]'],
] as const)
  test(`check does not warn if ${what}`, () => assert.deepEqual(warningsOf(sinks, required), []));

test('a deprecated key and type are warnings that begin with DEPRECATED, in check and in the log', () => {
  const mark = { since: '0.3.0', until: '0.5.0', use: 'sinks.NAME.run' };
  const [stdout = assert.fail('no sink')] = ADAPTERS;
  const former = v.optional(v.pipe(v.string(), deprecated(mark)), 'x');
  const adapters = [
    { ...stdout, type: 'keyed', options: v.strictObject({ former }) },
    { ...stdout, type: 'old', options: v.pipe(v.strictObject({}), deprecated(mark)) },
  ];
  const sinks = 'a: { type: keyed, former: x }, b: { type: old }, c: { type: keyed }';
  const read = readConfig(`version: 1\nsinks: { ${sinks} }`, { ...surroundings(), adapters });
  if ('faults' in read) assert.fail(JSON.stringify(read.faults));
  const text = 'use sinks.NAME.run (deprecated since 0.3.0, goes no earlier than 0.5.0)';
  const lines = [`DEPRECATED: sinks.a.former: ${text}`, `DEPRECATED: sinks.b: ${text}`];
  assert.deepEqual(read.warnings.map(warningLine), lines);
  assert.deepEqual(read.options.deprecated, ['sinks.a.former', 'sinks.b']);
  const logged: unknown[] = [];
  logWarnings({ warn: (...line: unknown[]) => void logged.push(line) }, read.warnings);
  assert.deepEqual(logged, [
    [{ path: 'sinks.a.former' }, lines[0]],
    [{ path: 'sinks.b' }, lines[1]],
  ]);
});
