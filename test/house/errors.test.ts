// The closed list of error codes → the same in docs/operate/errors.md and in what throws them.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { BridgeError, ERROR_CODES, isAbort, messageOf } from '../../src/errors.ts';

const ROOT = new URL('../../', import.meta.url);

function sources(folder: string): string[] {
  const files = readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.ts')).map((file) => `${folder}${file}`);
}

function text(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

test('the documentation lists every error code, in order, and none that does not exist', () => {
  const rows = [...text('docs/operate/errors.md').matchAll(/^\| `(BRIDGE_[A-Z_]+)` \| (.*) \| (.*) \|$/gm)];
  assert.deepEqual(
    rows.map(([, code]) => code),
    [...ERROR_CODES].sort(),
  );
  for (const [row, , means, advice] of rows) assert.ok(means && advice, row);
});

test('every error code has the form BRIDGE_AREA_WHAT and is listed once', () => {
  assert.deepEqual([...new Set(ERROR_CODES)], [...ERROR_CODES]);
  for (const code of ERROR_CODES) assert.match(code, /^BRIDGE_[A-Z]+(_[A-Z]+)*$/);
});

test('every error code is thrown somewhere', () => {
  const code = [...sources('src/'), ...sources('adapters/')]
    .filter((path) => path !== 'src/errors.ts')
    .map(text)
    .join('\n');
  assert.deepEqual(
    ERROR_CODES.filter((name) => !code.includes(`'${name}'`)),
    [],
  );
});

test('an error keeps its code, its cause and its disposition', () => {
  const cause = new Error('socket hang up');
  const error = new BridgeError('BRIDGE_INTERNAL', 'something', {
    cause,
    disposition: 'refused',
    scope: 'sink',
    retryAfterMs: 5,
    status: 410,
    untilRestart: true,
  });
  assert.deepEqual(
    [
      error.name,
      error.code,
      error.message,
      error.cause,
      error.disposition,
      error.scope,
      error.retryAfterMs,
      error.status,
      error.untilRestart,
    ],
    ['BridgeError', 'BRIDGE_INTERNAL', 'something', cause, 'refused', 'sink', 5, 410, true],
  );
});

test('an error without details is about one delivery and has no cause', () => {
  const error = new BridgeError('BRIDGE_INTERNAL', 'something');
  assert.deepEqual(
    [
      Object.hasOwn(error, 'cause'),
      error.disposition,
      error.scope,
      error.retryAfterMs,
      error.status,
      error.untilRestart,
    ],
    [false, undefined, 'delivery', undefined, undefined, false],
  );
});

test('an abort is distinguished from every other error', () => {
  assert.equal(isAbort(AbortSignal.abort().reason), true);
  for (const other of [new BridgeError('BRIDGE_INTERNAL', 'x'), new Error('AbortError'), 'AbortError', null])
    assert.equal(isAbort(other), false);
});

test('anything thrown has a message', () => {
  assert.deepEqual([messageOf(new Error('a')), messageOf('b'), messageOf(null)], ['a', 'b', 'null']);
});
