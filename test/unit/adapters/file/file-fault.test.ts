// What the file system answers, code by code → whether somebody has to correct something, and what.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileFault } from '../../../../adapters/file/file-fault.ts';
import { BridgeError } from '../../../../src/errors.ts';
import { UnfitFile } from '../../../../src/secrets/regular-file.ts';

const fault = (code: string) =>
  fileFault(Object.assign(new Error(`${code}: as said`), { code }), 'archive', '/logs/events');

for (const code of [
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
  'ENOTEMPTY',
  'ELOOP',
  'ENAMETOOLONG',
  'EINVAL',
  'EACCES',
  'EPERM',
  'EROFS',
  'EFBIG',
]) {
  test(`${code} is misconfigured, and the message says what to correct`, () => {
    const { code: ours, disposition, scope, status, message } = fault(code);
    assert.deepEqual([ours, disposition, scope, status], ['BRIDGE_FILE_MISCONFIGURED', 'misconfigured', 'sink', code]);
    assert.match(
      message,
      new RegExp(`^sink archive cannot write to /logs/events: ${code}: as said; (create|correct|choose|let|set) .*`),
    );
  });
}

for (const code of [
  'ENOSPC',
  'EDQUOT',
  'EMFILE',
  'ENFILE',
  'EIO',
  'ESTALE',
  'ETIMEDOUT',
  'EBUSY',
  'EAGAIN',
  'ENOMEM',
  'ENEW',
]) {
  test(`${code} is tried again`, () => {
    const { code: ours, disposition, scope, status, message } = fault(code);
    assert.deepEqual([ours, disposition, scope, status], ['BRIDGE_FILE_FAILED', 'retry', 'sink', code]);
    assert.match(message, /; (make room|raise the limit|check the disk).*$/);
  });
}

test('what is no regular file is misconfigured', () => {
  const { disposition, message } = fileFault(
    new UnfitFile('it is a pipe, not a regular file'),
    'archive',
    '/logs/events',
  );
  assert.equal(disposition, 'misconfigured');
  assert.equal(message, 'sink archive cannot write to /logs/events: it is a pipe, not a regular file; correct `path`');
});

test('a BridgeError passes unchanged', () => {
  const error = new BridgeError('BRIDGE_INTERNAL', 'x');
  assert.equal(fileFault(error, 'archive', '/logs/events'), error);
});
