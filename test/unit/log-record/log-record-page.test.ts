// docs/operate/log-fields.md → its tables and examples are those of the code, both ways.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { JsonObject } from '../../../src/formats/json-object.ts';
import { toCef } from '../../../src/log-record/cef.ts';
import { toColumns } from '../../../src/log-record/columns.ts';
import { toEcs } from '../../../src/log-record/ecs.ts';
import { flatRecord, toText } from '../../../src/log-record/formats.ts';
import { logRecord } from '../../../src/log-record/log-record.ts';
import { logMessage } from '../../../src/log-record/message.ts';
import { otelRecord } from '../../../src/log-record/otel.ts';
import { CHANGE_NAMES, type ChangeName } from '../../../src/model/change-names.ts';
import { constants, FORMATS, type Format, fieldsByMember } from './field-table.ts';
import { sampleRecords, withVm } from './samples.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/operate/log-fields.md'), 'utf8');
const OTHERS = (Object.keys(FORMATS) as Format[]).filter((format) => format !== 'record');

/** The cells of each row of the table with this head, code spans as lists. */
function rows(head: string): readonly (readonly string[])[] {
  const at = PAGE.indexOf(head);
  assert.notEqual(at, -1, head);
  const lines = PAGE.slice(at).split('\n\n')[0]?.split('\n').slice(2) ?? [];
  return lines.map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim()),
  );
}

function blocks(language: string): readonly string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)\\n\`\`\``, 'gm'))].map(
    ([, block = '']) => block,
  );
}

test('the table has a row for each member of a CloudEvent, and its fields in each format are those that the code makes', () => {
  const maps = OTHERS.map((format) => fieldsByMember(format));
  const made = [...fieldsByMember('record').keys()].map((member) => [
    `\`${member}\``,
    ...maps.map((map) => (map.get(member) ?? []).map((name) => `\`${name}\``).join(', ')),
  ]);
  assert.deepEqual(rows(`| field | ${OTHERS.join(' | ')} |`), made);
});

test('a member has its own name in the flat record, and severitynumber also gives the severity', () => {
  for (const [member, names] of fieldsByMember('record'))
    assert.deepEqual(names, member === 'severitynumber' ? ['severity', 'severitynumber'] : [member]);
});

test('the page has every field that is the same in all CloudEvents, with its value', () => {
  const made = OTHERS.flatMap((format) =>
    [...constants(format)].map(([name, value]) => [
      format,
      `\`${name}\``,
      `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``,
    ]),
  );
  assert.deepEqual(rows('| format | field | value |'), made);
  assert.equal(constants('record').size, 0);
});

test('the types of columns that are not texts are those of their values', () => {
  const kinds = { number: 'long', boolean: 'boolean', object: 'dynamic' } as const;
  const made = [...sampleRecords(), withVm()]
    .flatMap((record) => Object.entries(toColumns(record)))
    .filter(([, value]) => value !== null);
  const typed = made.flatMap(([name, value]) =>
    typeof value === 'string' ? [] : [`${kinds[typeof value as keyof typeof kinds]} ${name}`],
  );
  const told = rows('| type | columns |').flatMap(([type, names = '']) =>
    names.split(', ').map((name) => `${type} ${name.slice(1, -1)}`),
  );
  assert.deepEqual([...new Set([...typed, 'datetime TimeGenerated'])].sort(), [...told].sort());
});

test('the examples are what the code makes from the CloudEvent on the page', () => {
  const [event = '', record, ecs, otel, columns, ...more] = blocks('json').map((block) =>
    JSON.stringify(JSON.parse(block)),
  );
  const made = logRecord(new TextEncoder().encode(event));
  assert.deepEqual(blocks('text'), [toText(made), toCef(made)]);
  assert.deepEqual(
    [record, ecs, columns, ...more],
    [flatRecord(made), toEcs(made), toColumns(made)].map((value) => JSON.stringify(value)),
  );
  assert.equal(otel, JSON.stringify(otelRecord(made), asJson));
});

const SHOWN = {
  eventId: 'EVENT_ID',
  eventType: 'Reboot',
  eventSource: 'Platform',
  resources: ['web_0'],
  description: 'DESCRIPTION',
  observer: { name: 'web_0' },
};
const BY_ORDERS = { ...SHOWN, approver: 'orders' };
const SIGHT = { ...SHOWN, since: '2026-11-22T06:02:00Z', lastDocumentAt: '2026-11-22T06:02:00Z' };

const DATA_OF_MESSAGES: Readonly<Record<ChangeName, JsonObject>> = {
  scheduled: { ...SHOWN, resources: ['web_0', 'web_1'], notBefore: '2026-11-22T06:22:00Z' },
  updated: { ...SHOWN, changedFields: ['notBefore'], notBefore: '2026-11-22T06:42:00Z' },
  started: SHOWN,
  ended: { ...SHOWN, outcome: 'completed' },
  'approval.recorded': { ...BY_ORDERS, policy: 'documentation' },
  'approval.submitted': BY_ORDERS,
  'approval.failed': { ...BY_ORDERS, reason: 'changed' },
  'source.blind': { ...SIGHT, reason: 'REASON' },
  'source.restored': SIGHT,
};

test('the messages on the page are those that the code makes, one of each change (behaviour 9.1)', () => {
  const made = CHANGE_NAMES.map((name) => [
    `\`${name}\``,
    `\`${logMessage({ type: `prefix.${name}.v1`, impact: 'reboot' }, DATA_OF_MESSAGES[name])}\``,
  ]);
  assert.deepEqual(rows('| change | message |'), made);
});

function asJson(_: string, value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries(value);
  return typeof value === 'bigint' ? String(value) : value;
}
