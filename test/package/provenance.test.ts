// The files of a build → the provenance statement, and a signature that minisign verifies.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { provenance } from '../../deploy/packages/provenance.ts';
import { run } from '../../deploy/packages/run.ts';
import { SUMS, sign } from '../../deploy/packages/signature.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { folderOf } from '../support/folder.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** A checkout with one commit, and a build of two files outside it. */
async function built(
  t: TestContext,
): Promise<{ readonly root: string; readonly out: string; readonly version: string }> {
  const folder = folderOf(t);
  const [root, out] = [join(folder, 'root'), join(folder, 'out')];
  for (const each of [root, out]) mkdirSync(each);
  writeFileSync(join(root, 'package-lock.json'), '{}');
  for (const name of ['b.rpm', 'a.deb']) writeFileSync(join(out, name), name);
  await run('git', ['init', '--quiet'], { cwd: root });
  await run('git', ['add', '.'], { cwd: root });
  const author = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
  await run('git', [...author, 'commit', '--quiet', '--no-verify', '--message', 'a: b'], { cwd: root });
  return { root, out, version: '1.3.0' };
}

test('the statement names each file, the commit, the lock file and Node by their digests', async (t) => {
  const build = await built(t);
  const commit = (await run('git', ['rev-parse', 'HEAD'], { cwd: build.root })).trim();
  const statement = JSON.parse(await provenance(build));
  assert.deepEqual(
    [statement._type, statement.predicateType],
    ['https://in-toto.io/Statement/v1', 'https://slsa.dev/provenance/v1'],
  );
  assert.deepEqual(
    statement.subject,
    ['a.deb', 'b.rpm'].map((name) => ({ name, digest: { sha256: sha256(name) } })),
  );
  const { buildDefinition, runDetails } = statement.predicate;
  assert.deepEqual(buildDefinition.resolvedDependencies, [
    { uri: `${packageJson.repository.url}@${commit}`, digest: { gitCommit: commit } },
    { name: 'package-lock.json', digest: { sha256: sha256('{}') } },
    { uri: `pkg:npm/node@${packageJson.devDependencies.node}` },
  ]);
  for (const uri of [buildDefinition.buildType, runDetails.builder.id]) assert.ok(uri.startsWith('https://'), uri);
  assert.equal(await provenance(build), await provenance(build));
});

test('the statement of a modified checkout says so', async (t) => {
  const build = await built(t);
  writeFileSync(join(build.root, 'package-lock.json'), '{ }');
  const [commit] = JSON.parse(await provenance(build)).predicate.buildDefinition.resolvedDependencies;
  assert.deepEqual(commit.annotations, { modified: true });
});

const minisign = await run('minisign', ['-v']).then(
  () => false as const,
  () => 'minisign is not installed',
);
test('minisign verifies the signature, and rejects changed checksums', { skip: minisign }, async (t) => {
  const folder = folderOf(t);
  const [secret, publicKey] = [join(folder, 'secret.key'), join(folder, 'public.key')];
  await run('minisign', ['-G', '-W', '-f', '-s', secret, '-p', publicKey]);
  const sums = join(folder, SUMS);
  writeFileSync(sums, `${sha256('a')}  a.deb\n`);
  await sign(folder, secret, 'a 1.3.0');
  const verify = () => run('minisign', ['-V', '-p', publicKey, '-m', sums]);
  assert.match(await verify(), /Trusted comment: a 1\.3\.0/);
  writeFileSync(sums, `${sha256('b')}  a.deb\n`);
  await assert.rejects(verify());
  await assert.rejects(sign(folder, join(folder, 'none.key'), 'a 1.3.0'), /none\.key/);
});
