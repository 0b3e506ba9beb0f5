// Every file of the checkout → the address and the version of the project, each from one place.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { mayNameVersion, namedVersions } from '../../deploy/release/version-places.ts';
import packageJson from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '../..');
const FILES = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => /\.(ts|js|json|ya?ml|md|service|ps1|1|html|go|tpl)$|^deploy\/packages\/[\w-]+$/.test(path));
const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Links in them are written by deploy/monitoring/runbooks.ts. */
const WRITTEN = /^deploy\/(?:monitoring|helm\/scheduled-events-bridge)\/rules(?:\.test)?\.yaml$/;

test("the project's address stands in package.json, and elsewhere only if it is written from there", () => {
  const { homepage, bugs, repository } = packageJson;
  assert.deepEqual([bugs.url, repository.url], [`${homepage}/issues`, `git+${homepage}.git`]);
  const found = FILES.filter((path) => path !== 'package.json' && !path.startsWith('CHANGELOG'))
    .filter((path) => text(path).includes(homepage))
    .filter((path) => !WRITTEN.test(path));
  assert.deepEqual(found, []);
});

test('the links of the alert rules lead to the project: node deploy/monitoring/runbooks.ts writes them', () => {
  const links = FILES.filter((path) => WRITTEN.test(path)).flatMap((path) =>
    [...text(path).matchAll(/runbook_url: '([^']+)'/g)].map(([, link = '']) => link),
  );
  assert.ok(links.length > 30);
  assert.deepEqual(
    links.filter((link) => !link.startsWith(`${packageJson.homepage}/blob/main/docs/operate/alerts.md#`)),
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
