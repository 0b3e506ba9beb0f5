// Options and files → the bridges to watch with their tokens, or what is wrong with them.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { watchedAddresses } from '../../../../src/verbs/top/watched-address.ts';
import type { VerbContext } from '../../../../src/verbs/verb.ts';
import { folderOf } from '../../../support/folder.ts';

const ENV = { MINE: 'token-of-mine', OTHER: 'token-of-another' };

function addresses(values: VerbContext['values']) {
  const found = watchedAddresses({ values, env: ENV } as unknown as VerbContext);
  return found.map(({ url, headers }) => `${url.origin} ${headers['Authorization'] ?? '-'}`);
}

function fileOf(t: TestContext, text: string): string {
  const file = join(folderOf(t), 'fleet.txt');
  writeFileSync(file, text);
  return file;
}

test('without options it is the bridge of this machine, without a token', () => {
  assert.deepEqual(addresses({}), ['http://127.0.0.1:8700 -']);
});

test('options and the file are combined, each bridge once, with its own token or that of --token-env', (t) => {
  const bridges = fileOf(t, '# the fleet\n\nhttps://web-1:8700\r\nhttps://web-2:8700\tOTHER\nhttps://web-0:8700\n');
  assert.deepEqual(addresses({ bridge: ['https://web-0:8700'], bridges, 'token-env': 'MINE' }), [
    ...['https://web-0:8700 Bearer token-of-mine', 'https://web-1:8700 Bearer token-of-mine'],
    'https://web-2:8700 Bearer token-of-another',
  ]);
});

test('with --kubernetes alone, this machine is not watched', () => {
  assert.deepEqual(addresses({ kubernetes: 'app=bridge' }), []);
});

test('a fault in the file names its line, and the file of a fleet is not empty', (t) => {
  const faults: readonly (readonly [text: string, fault: RegExp])[] = [
    ['http://127.0.0.1:1\nweb-1\n', /line 2: .*http or https URL/],
    ['https://web-1:8700 NOT_SET\n', /line 1: the environment variable NOT_SET is empty/],
    ['https://web-1:8700 MINE more\n', /line 1: write a URL and/],
    ['http://web-1:8700 MINE\n', /line 1: http:\/\/web-1:8700 would receive the token in clear text/],
    ['# nothing\n', /names no bridge/],
  ];
  for (const [text, fault] of faults) assert.throws(() => addresses({ bridges: fileOf(t, text) }), fault);
  assert.throws(() => addresses({ bridges: '/does/not/exist' }), /cannot be read \(ENOENT\)/);
});
