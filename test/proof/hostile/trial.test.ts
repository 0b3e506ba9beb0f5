// Readers that throw, invent, change what they must not → a failure that says so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invented, type Target } from './target.ts';
import { tryCase } from './trial.ts';

const INPUT = Buffer.from('{"a":1}');

function trying(target: Partial<Target>) {
  return tryCase({ name: 'any', kind: 'body', material: { samples: [] }, run: () => null, ...target }, INPUT);
}

test('an error that is not documented is a failure, with its stack', async () => {
  const run = () => {
    throw new TypeError('x is not a function');
  };
  assert.match((await trying({ run }))?.why ?? '', /^threw TypeError: x is not a function\n.*trial\.test/s);
  assert.equal(await trying({ run, allows: (error) => error instanceof TypeError }), null);
});

test('what a judge finds has its words and its count', async () => {
  assert.deepEqual(await trying({ judge: () => invented('an event') }), { why: 'an event', fault: 'invented' });
  assert.deepEqual(await trying({ judge: () => 'a long fault' }), { why: 'a long fault' });
});

test('a judge that throws is a failure of the case, not the end of the thread', async () => {
  const judge = () => String(Object.create(null));
  assert.match((await trying({ judge }))?.why ?? '', /^could not be judged: TypeError/);
});

test('a reader that changes its input or a prototype is a failure', async (t) => {
  const before = Buffer.from(INPUT);
  assert.deepEqual(await trying({ run: (input) => input.fill(0) }), { why: 'changed its input' });
  before.copy(INPUT);
  t.after(() => Reflect.deleteProperty(Object.prototype, 'polluted'));
  const run = () => Object.defineProperty(Object.prototype, 'polluted', { value: 1, configurable: true });
  assert.match((await trying({ run }))?.why ?? '', /^changed a prototype/);
});
