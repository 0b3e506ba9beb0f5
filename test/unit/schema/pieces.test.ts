// Durations and sizes of a configuration → numbers, or a message that says what is expected.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as v from 'valibot';
import { duration, size } from '../../../src/schema/pieces.ts';

const NINES = '9'.repeat(400);

test('a duration or size that no number can hold is rejected with the message for any other text', () => {
  const messageOf = (schema: v.GenericSchema, text: string) => v.safeParse(schema, text).issues?.[0].message;
  assert.match(messageOf(duration(), `${NINES}h`) ?? '', /^must be a duration such as/);
  assert.match(messageOf(size(), `${NINES}KiB`) ?? '', /^must be a size such as/);
  assert.equal(messageOf(duration(), '1h'), undefined);
});
