// The packages of npm, unpacked → each relative link of their pages leads to a file that is there.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { folderOf } from '../support/folder.ts';
import { bridgePackage, consumerPackage } from './npm-packages.ts';

for (const [name, make] of [
  ['the bridge', bridgePackage],
  ['the consumer library', consumerPackage],
] as const) {
  test(`${name}: a page links to files of the package, or to the project's site`, async (t) => {
    const folder = folderOf(t);
    execFileSync('tar', ['-xzf', await make(), '-C', folder]);
    const home = join(folder, 'package');
    const pages = globSync('**/*.md', { cwd: home });
    const links = pages.flatMap((page) =>
      [...readFileSync(join(home, page), 'utf8').matchAll(/\]\(([^)\s#]+)/g)].map(([, target = '']) => ({
        page,
        target,
      })),
    );
    const isDead = (page: string, target: string) =>
      !/^[a-z]+:/.test(target) && !existsSync(join(home, dirname(page), target));
    assert.deepEqual(
      links.filter(({ page, target }) => isDead(page, target)),
      [],
    );
    const site = `${packageJson.homepage}/blob/main/`;
    const outside = links
      .filter(({ target }) => target.startsWith(site))
      .map(({ target }) => target.slice(site.length));
    assert.ok(outside.length > 0, 'at least one leads out of the package');
    const root = join(import.meta.dirname, '../..');
    assert.deepEqual(
      outside.filter((path) => !existsSync(join(root, path))),
      [],
    );
  });
}

test('the package of the bridge has no source map, no scripts and no development dependencies', async (t) => {
  const folder = folderOf(t);
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', await bridgePackage(), '-C', folder]);
  assert.deepEqual(globSync('**/*.map', { cwd: folder }), []);
  const manifest = JSON.parse(readFileSync(join(folder, 'package/package.json'), 'utf8'));
  assert.deepEqual([manifest.version, manifest.scripts, manifest.devDependencies], ['1.2.3', undefined, undefined]);
  for (const key of ['repository', 'homepage', 'bugs', 'keywords', 'author', 'license']) assert.ok(manifest[key], key);
});
