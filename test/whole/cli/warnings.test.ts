// Configurations that are probably not meant → warnings of `check` on stderr, of `run` in its log.
import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { exposureOf } from '../../../src/secrets/file-exposure.ts';
import { folderOf } from '../../support/folder.ts';
import { run, start } from '../../support/program.ts';

const FOREIGN_GROUP = 65_534;
const noModes = process.getuid === undefined ? 'files have no modes here' : false;
const noForeignGroup = process.getuid?.() === 0 ? false : 'only root may give a file to another group';

/** A folder that other users can reach, unlike those of other tests. */
function openFolder(t: TestContext, mode = 0o755): string {
  const folder = folderOf(t);
  chmodSync(folder, mode);
  return folder;
}

function put(path: string, mode: number, text = 'correct-horse-battery-staple'): string {
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

test('a file is open to those whom its mode, and the modes of the folders above it, let in', { skip: noModes }, (t) => {
  const folder = openFolder(t);
  const everybody = 'everybody on this machine';
  const seen = (mode: number) => exposureOf(put(join(folder, 'file'), mode));
  assert.deepEqual(seen(0o600), { writers: null, readers: null });
  assert.deepEqual(seen(0o644), { writers: null, readers: everybody });
  assert.deepEqual(seen(0o666), { writers: everybody, readers: everybody });
  assert.deepEqual(seen(0o622), { writers: everybody, readers: null });
  chmodSync(folder, 0o777);
  assert.deepEqual(seen(0o600), { writers: everybody, readers: null }, 'another file can be put in its place');
  chmodSync(folder, 0o1777);
  assert.deepEqual(seen(0o600), { writers: null, readers: null });
  chmodSync(folder, 0o700);
  assert.deepEqual(seen(0o666), { writers: null, readers: null }, 'nobody gets there');
  assert.equal(exposureOf(join(folder, 'none')), null);
});

test('a user who may write to any folder on the path, also of a link to the file, can replace the file', {
  skip: noModes,
}, (t) => {
  const everybody = 'everybody on this machine';
  const folder = openFolder(t);
  const way = join(folder, 'open', 'closed', 'deep');
  mkdirSync(way, { recursive: true });
  const file = put(join(way, 'file'), 0o600);
  assert.deepEqual(exposureOf(file), { writers: null, readers: null });
  chmodSync(join(folder, 'open', 'closed'), 0o700);
  chmodSync(join(folder, 'open'), 0o777);
  assert.deepEqual(exposureOf(file), { writers: everybody, readers: null }, 'what lies above a closed folder counts');
  chmodSync(join(folder, 'open'), 0o1777);
  assert.deepEqual(exposureOf(file), { writers: null, readers: null });
  mkdirSync(join(folder, 'links'));
  symlinkSync(file, join(folder, 'links', 'first'));
  symlinkSync('first', join(folder, 'links', 'second'));
  assert.deepEqual(exposureOf(join(folder, 'links', 'second')), { writers: null, readers: null });
  chmodSync(join(folder, 'links'), 0o777);
  assert.deepEqual(exposureOf(join(folder, 'links', 'second')), { writers: everybody, readers: null });
  symlinkSync(join(folder, 'links'), join(folder, 'other'));
  assert.deepEqual(exposureOf(join(folder, 'other', 'first')), { writers: everybody, readers: null });
  symlinkSync('loop', join(folder, 'loop'));
  assert.equal(exposureOf(join(folder, 'loop')), null);
});

test('the group of a file counts if it is neither root’s nor this process’s own', { skip: noForeignGroup }, (t) => {
  const folder = openFolder(t);
  const file = put(join(folder, 'file'), 0o660);
  assert.deepEqual(exposureOf(file), { writers: null, readers: null });
  chownSync(file, 0, FOREIGN_GROUP);
  chmodSync(file, 0o640);
  assert.deepEqual(exposureOf(file), { writers: null, readers: 'the group 65534' });
  chmodSync(file, 0o660);
  assert.deepEqual(exposureOf(file), { writers: 'the group 65534', readers: 'the group 65534' });
});

interface Fixture {
  readonly config: string;
  readonly folder: string;
}

function fixture(t: TestContext): Fixture {
  const folder = openFolder(t);
  put(join(folder, 'written'), 0o666);
  put(join(folder, 'read'), 0o644, 'another-horse-another-staple');
  put(join(folder, 'closed'), 0o600, 'a-third-horse-a-third-staple');
  mkdirSync(join(folder, '..data'));
  put(join(folder, '..data', 'token'), 0o644, 'a-fourth-horse-a-fourth-staple');
  symlinkSync('..data/token', join(folder, 'mounted'));
  const token = (file: string) => ({ token: { file } });
  const config = join(folder, 'bridge.yaml');
  const file = {
    version: 1,
    metadata: { endpoint: 'http://127.0.0.1:1' },
    store: { path: join(folder, 'store') },
    http: { listen: '127.0.0.1:0', readers: { graphs: token('closed') } },
    approvals: { approvers: { Alice: token('written'), alice: token('read'), bob: token('mounted') } },
  };
  put(config, 0o644, JSON.stringify(file));
  return { config, folder };
}

const SAME = 'approvals.approvers.alice: differs from approvals.approvers.Alice only in case';

test('check warns of similar names and of files that others may change or read, and exits with 0', {
  skip: noModes,
}, async (t) => {
  const { config, folder } = fixture(t);
  const { code, stdout, stderr } = await run(t, ['check', '--config', config]);
  assert.deepEqual([code, stdout], [0, `${config}: the configuration is valid\n`]);
  assert.deepEqual(
    stderr.split('\n').map((line) => line.replace(/( only in case| everybody on this machine).*$/, '$1')),
    [
      `warning: ${SAME}`,
      `warning: approvals.approvers.Alice.token: the file ${folder}/written may be changed by everybody on this machine`,
      `warning: approvals.approvers.alice.token: the file ${folder}/read may be read by everybody on this machine`,
      `warning: approvals.approvers.bob.token: the file ${folder}/mounted may be read by everybody on this machine`,
      '',
    ],
  );
});

test('check warns of a configuration that others may change, and refuses such a store folder as run does', {
  skip: noModes,
}, async (t) => {
  const { config, folder } = fixture(t);
  chmodSync(config, 0o666);
  mkdirSync(join(folder, 'store'));
  chmodSync(join(folder, 'store'), 0o777);
  const { code, stdout, stderr } = await run(t, ['check', '--config', config]);
  assert.equal(code, 1);
  assert.match(stderr, /^warning: the configuration \S+ may be changed by everybody on this machine/m);
  assert.match(stdout, /^store: the store \S+ may be written to by everybody on this machine/m);
  assert.doesNotMatch(stderr, /store\.path/);
  const refused = await run(t, ['run', '--config', config]);
  assert.equal(refused.code, 74);
  assert.match(refused.stderr, /BRIDGE_STORE_UNSAFE/);
});

test('run logs what others may change, and leaves to check what they may read', { skip: noModes }, async (t) => {
  const { config } = fixture(t);
  const program = start(t, ['run', '--config', config]);
  await program.logs('"listening"');
  const { stderr } = await program.end('SIGTERM');
  const warnings = stderr
    .split('\n')
    .filter((line) => line.includes('"area":"config"'))
    .map((line) => JSON.parse(line) as Record<string, string>);
  assert.deepEqual(
    warnings.map(({ level, path }) => [level, path]),
    [
      ['warn', 'approvals.approvers.alice'],
      ['warn', 'approvals.approvers.Alice.token'],
    ],
  );
});
