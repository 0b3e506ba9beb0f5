// A namespace named by the environment, a process of its own → the contract suite runs on it.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { start } from '../../support/program.ts';
import { givenEntities } from './given-namespace.ts';

const CONTRACT = join(import.meta.dirname, 'contract.test.ts');
const SERVER = join(import.meta.dirname, '../../far-sides/service-bus/serve.ts');
const NAMES = { SERVICEBUS_QUEUE: 'q', SERVICEBUS_TOPIC: 't' };

test('SERVICEBUS_CONNECTION_STRING runs the contract against a namespace: clauses without injected faults run, the rest is skipped with a reason', async (t) => {
  const server = start(t, [JSON.stringify({ queues: { q: {} }, topics: { t: {} } })], { main: SERVER });
  const [connection = ''] = await server.lines(1);
  const env = { SERVICEBUS_CONNECTION_STRING: connection, ...NAMES };
  const words = ['--test-reporter=tap', '--test-name-pattern=service-bus, SERVICEBUS_', CONTRACT];
  const { code, stdout } = await start(t, words.slice(1), { main: words[0] as string, env }).ended();
  assert.equal(code, 0, stdout);
  const lines = stdout.split('\n').filter((line) => line.startsWith('ok ') && line.includes('SERVICEBUS_'));
  const skipped = lines.filter((line) => / # SKIP nobody here can /.test(line));
  assert.deepEqual([lines.length - skipped.length, skipped.length], [3 * 6, 3 * 8]);
  assert.ok(!stdout.includes('SharedAccessKey'));
});

test('without it, or without names of entities, the contract uses no namespace', () => {
  assert.deepEqual(givenEntities(NAMES), []);
  assert.deepEqual(givenEntities({ SERVICEBUS_CONNECTION_STRING: 'Endpoint=sb://x' }), []);
  const variants = givenEntities({ SERVICEBUS_CONNECTION_STRING: 'Endpoint=sb://x', SERVICEBUS_TOPIC: 't' }).map(
    ({ variant }) => variant,
  );
  assert.deepEqual(variants, ['SERVICEBUS_TOPIC']);
});
