// A facility and a severity → the PRI.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { priority } from '../../../../../adapters/syslog/message/header.ts';

test('INFO, WARN and ERROR are 6, 4 and 3, plus eight times the facility', () => {
  assert.deepEqual(
    [9, 13, 17].map((number) => priority('daemon', number)),
    ['<30>', '<28>', '<27>'],
  );
  assert.deepEqual(
    [9, 13, 17].map((number) => priority('local0', number)),
    ['<134>', '<132>', '<131>'],
  );
  assert.deepEqual([priority('kern', 17), priority('local7', 9)], ['<3>', '<190>']);
});

test('a number between two severities counts as the lower one', () => {
  assert.deepEqual(
    [1, 12, 16, 24].map((number) => priority('kern', number)),
    ['<6>', '<6>', '<4>', '<3>'],
  );
});
