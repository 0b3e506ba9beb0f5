// docs/schemas/ and docs/receive/consumer.md → the generated types, errors and exports agree.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { CONSUMER_ERROR_CODES } from '../../../src/consumer/consumer-error.ts';
import * as consumer from '../../../src/consumer.ts';
import { tableBelow } from '../../docs/markdown-page.ts';
import { SCHEMA_TYPES, schemaTypes } from '../../package/schema-types.ts';

test('the generated types are those of the current schemas', async () => {
  assert.ok(
    readFileSync(SCHEMA_TYPES, 'utf8') === (await schemaTypes()),
    'docs/schemas has changed: npm run schema-types, and look at what it changed',
  );
});

test('the page lists every error code, and no other', () => {
  const listed = tableBelow('docs/receive/consumer.md', 'Errors').map(([code]) => code);
  assert.deepEqual(
    listed,
    CONSUMER_ERROR_CODES.map((code) => `\`${code}\``),
  );
});

test('the page names every function of the library', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/receive/consumer.md'), 'utf8');
  assert.deepEqual(
    Object.keys(consumer).filter((name) => !page.includes(name)),
    [],
  );
});
