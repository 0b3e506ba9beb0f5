// Programs and scripts on Linux and Windows → what is started, with every argument by itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLine } from '../../../../adapters/command/command-line.ts';

const windows = { platform: 'win32', env: { SystemRoot: 'D:\\Windows' } } as const;

test('a program is started itself, a script of PowerShell by its interpreter, arguments as they are', () => {
  assert.deepEqual(commandLine('/bin/x', ['$(a)'], { platform: 'linux', env: {} }), { file: '/bin/x', args: ['$(a)'] });
  assert.deepEqual(commandLine('C:\\x.exe', ['%A%'], windows), { file: 'C:\\x.exe', args: ['%A%'] });
  const { file, args } = commandLine('C:\\a b\\x.PS1', ['$x; calc', '-y'], windows);
  assert.equal(file, 'D:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe');
  assert.deepEqual(args.slice(-4), ['-File', 'C:\\a b\\x.PS1', '$x; calc', '-y']);
});

test('a batch file is read by cmd.exe, each text in quotes, the whole in quotes that it takes off', () => {
  assert.deepEqual(commandLine('C:\\a b\\x.cmd', ['--fast', 'c d'], windows), {
    file: 'D:\\Windows\\System32\\cmd.exe',
    args: ['/d', '/s', '/v:off', '/c', '""C:\\a b\\x.cmd" "--fast" "c d""'],
    isVerbatim: true,
  });
});
