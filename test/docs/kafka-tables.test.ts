// The tables of docs/operate/kafka.md → the adapter's errors, messages and rights, both ways.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import protocolErrors from 'kafkajs/src/protocol/error.js';
import { type KafkaOperation, meaningOf } from '../../adapters/kafka/protocol-meanings.ts';
import { ERROR_CODES } from '../../src/errors.ts';
import { tableBelow } from './markdown-page.ts';

const PAGE = 'docs/operate/kafka.md';
const ROOT = join(import.meta.dirname, '../..');
/** Younger than kafkajs, which gives their numbers alone. */
const YOUNGER = ['THROTTLING_QUOTA_EXCEEDED'];
/** What a sink does, in its order. */
const OPERATIONS: readonly KafkaOperation[] = ['connect', 'find', 'create', 'produce'];

const answers = tableBelow(PAGE, 'What Kafka answers').map(([answer = '', codes = '', outcome = '']) => ({
  types: namesIn(answer).filter((name) => /^[A-Z_]+$/.test(name)),
  codes: namesIn(codes),
  outcome,
}));

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '');
}

function rowOf(code: string) {
  return answers.find(({ codes }) => codes.includes(code)) ?? assert.fail(`no row names ${code}`);
}

/** Each code with the errors that lead to it, those alone that somebody thought of. */
function foreseen(): ReadonlyMap<string, Set<string>> {
  const byCode = new Map<string, Set<string>>();
  for (const type of [...protocolErrors.errorCodes.map((error) => error.type), ...YOUNGER]) {
    const meanings = OPERATIONS.map((operation) => meaningOf(type, { topic: 'any', operation }));
    // An error that dead-letters a record is told there, whatever it means elsewhere.
    const told = meanings.at(-1)?.disposition === 'refused' ? meanings.slice(-1) : meanings;
    for (const { code, advice } of told)
      if (!/please report/.test(advice)) byCode.set(code, (byCode.get(code) ?? new Set()).add(type));
  }
  return byCode;
}

test('every known answer of Kafka is in the row of its code, and no other', () => {
  const byCode = foreseen();
  // A broker behind the others may not know the partition of a topic that was found: that is tried again like all that the row calls other.
  byCode.get('BRIDGE_KAFKA_UNAVAILABLE')?.delete('UNKNOWN_TOPIC_OR_PARTITION');
  for (const [code, types] of byCode) assert.deepEqual([...rowOf(code).types].sort(), [...types].sort(), code);
  for (const { types, codes } of answers) if (types.length > 0) assert.ok(byCode.has(codes[0] ?? ''), codes.join());
});

test('every row of an answer has the right outcome of the delivery', () => {
  const outcomes: Readonly<Record<string, RegExp>> = {
    refused: /^a dead letter/,
    misconfigured: /slowly/,
    retry: /back-off/,
  };
  let before = '';
  for (const { types, codes, outcome } of answers) {
    const told = outcome === 'the same' ? before : outcome;
    before = told;
    for (const type of types) {
      const meaning = OPERATIONS.map((operation) => meaningOf(type, { topic: 'any', operation })).findLast(({ code }) =>
        codes.includes(code),
      );
      assert.match(told, outcomes[meaning?.disposition ?? ''] ?? /^$/, type);
    }
  }
});

test('the page names every code of Kafka that a delivery can end with', () => {
  const ofSources = ['BRIDGE_KAFKA_GROUP', 'BRIDGE_KAFKA_UNREADABLE'];
  const codes = ERROR_CODES.filter((code) => code.startsWith('BRIDGE_KAFKA_') && !ofSources.includes(code));
  assert.deepEqual(answers.flatMap((row) => row.codes).sort(), [...codes].sort());
});

test('the words under "When it does not work" are words of the messages', () => {
  const sources = globSync(['adapters/kafka/*.ts', 'src/net/tls-advice.ts'], { cwd: ROOT }).map((path) =>
    readFileSync(join(ROOT, path), 'utf8'),
  );
  const rows = tableBelow(PAGE, 'When it does not work');
  assert.ok(rows.length > 10);
  for (const [words = ''] of rows) {
    const said = namesIn(words)[0] ?? '';
    assert.ok(
      sources.some((source) => source.replaceAll("\\'", "'").includes(said)),
      said,
    );
  }
});
