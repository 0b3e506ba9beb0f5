// Every file of the checkout → the address and the version of the project, each from one place.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { mayNameVersion, namedVersions } from '../../deploy/release/version-places.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { LINKED_FILES } from '../../project-links.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILES = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => /\.(ts|js|json|ya?ml|md|service|ps1|1|html|go|tpl)$|^deploy\/packages\/[\w-]+$/.test(path));
const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');

test("the project's address stands in package.json, and elsewhere only if it is written from there", () => {
  const { homepage, bugs, repository } = packageJson;
  assert.deepEqual([bugs.url, repository.url], [`${homepage}/issues`, `git+${homepage}.git`]);
  const found = FILES.filter((path) => path !== 'package.json' && !path.startsWith('CHANGELOG'))
    .filter((path) => text(path).includes(homepage))
    .filter((path) => !LINKED_FILES.includes(path));
  assert.deepEqual(found, []);
});

test('links to the project lead to its address: node project-links.ts writes them', () => {
  const links = LINKED_FILES.flatMap((path) =>
    [...text(path).matchAll(/https:\/\/[^'"\s]+\/blob\/main\/docs\/[^'"\s]*/g)].map(([link]) => link),
  );
  assert.ok(links.length > 30);
  assert.deepEqual(
    links.filter((link) => !link.startsWith(`${packageJson.homepage}/blob/main/docs/`)),
    [],
  );
});

test('every page and manifest names the version of the last release', () => {
  const named = FILES.filter(mayNameVersion).flatMap((path) =>
    namedVersions(path, text(path)).map((version) => ({ path, version })),
  );
  const paths = [...new Set(named.map(({ path }) => path))];
  for (const path of ['package.json', 'package-lock.json', 'deploy/container/compose.yaml', 'docs/operate/install.md'])
    assert.ok(paths.includes(path), path);
  assert.equal(named.filter(({ path }) => /^package-lock\.json$|\/Chart\.yaml$/.test(path)).length, 4);
  assert.deepEqual(
    named.filter((each) => each.version !== packageJson.version),
    [],
  );
});
