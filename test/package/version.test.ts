// A checkout's history → the version of what is built from it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { buildVersion, packageVersion, releaseSubject } from '../../version.ts';
import { folderOf } from '../support/folder.ts';

/** A repository with commits of these subjects. */
function checkout(t: TestContext, ...subjects: readonly string[]): string {
  const folder = folderOf(t);
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], { cwd: folder });
  git('init', '--quiet');
  for (const subject of subjects) git('commit', '--quiet', '--allow-empty', '--no-verify', '-m', subject);
  return folder;
}

const head = (folder: string) =>
  execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], { cwd: folder, encoding: 'utf8' }).trim();

test('the commit of a release has its version', async (t) => {
  assert.equal(await buildVersion(checkout(t, 'a: b', releaseSubject('1.2.3')), '1.2.3'), '1.2.3');
});

test('a commit after a release has the next minor version, and says which commit it is', async (t) => {
  const folder = checkout(t, releaseSubject('1.2.3'), 'a: b');
  assert.equal(await buildVersion(folder, '1.2.3'), `1.3.0-dev+${head(folder)}`);
});

test('the commit of another release does not count', async (t) => {
  const folder = checkout(t, releaseSubject('1.2.2'));
  assert.equal(await buildVersion(folder, '1.2.3'), `1.3.0-dev+${head(folder)}`);
});

test('without a history, or inside the repository of another project, it is that of the release', async (t) => {
  assert.equal(await buildVersion(folderOf(t), '1.2.3'), '1.2.3');
  const inside = join(checkout(t, 'a: b'), 'vendor');
  mkdirSync(inside);
  assert.equal(await buildVersion(inside, '1.2.3'), '1.2.3');
});

test('Debian and RPM take a build between releases for older than the next release', () => {
  assert.equal(packageVersion('1.3.0-dev+0a1b2c3'), '1.3.0~dev+0a1b2c3');
  assert.equal(packageVersion('1.3.0'), '1.3.0');
});
