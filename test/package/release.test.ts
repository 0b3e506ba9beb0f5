// A small checkout and a version → the release's commit and tag, or a refusal.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { plannedEdits, type ReleaseParts, release } from '../../deploy/release/release.ts';
import { buildVersion } from '../../version.ts';
import { folderOf } from '../support/folder.ts';

const DAY = '2026-11-24';
const NOTES = '### Upgrade notes\n\nNothing to do.\n\n### Fixed\n\n- A fault.\n';
const FILES = {
  'package.json': '{\n  "name": "a",\n  "version": "1.2.0"\n}\n',
  'package-lock.json':
    '{\n  "name": "a",\n  "version": "1.2.0",\n  "packages": {\n    "": {\n      "name": "a",\n      "version": "1.2.0"\n    },\n    "node_modules/b": {\n      "version": "1.2.0"\n    }\n  }\n}\n',
  'CHANGELOG.md': `# Changelog\n\n## [Unreleased]\n\n${NOTES}\n## [1.2.0] - 2026-01-01\n\n- The first.\n`,
  'deploy/consumer/CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n',
  'deploy/helm/scheduled-events-bridge/Chart.yaml': 'name: a\nversion: 1.2.0\nappVersion: "1.2.0"\n',
  'docs/install.md': 'apt install ./scheduled-events-bridge_1.2.0_amd64.deb, with b 1.2.0\n',
  'docs/old.md': '1.2.0 was good.\n',
};

interface Checkout {
  readonly root: string;
  readonly git: (...args: readonly string[]) => string;
  readonly read: (path: string) => string;
  readonly write: (path: string, text: string) => void;
}

function checkout(t: TestContext, files: Readonly<Record<string, string>> = {}): Checkout {
  const root = folderOf(t);
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const write = (path: string, text: string) => {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries({ ...FILES, ...files })) write(path, text);
  git('init', '--quiet');
  git('config', 'user.name', 'A');
  git('config', 'user.email', 'a@example.com');
  git('add', '.');
  git('commit', '--quiet', '--message', 'a: b');
  return { root, git, write, read: (path) => readFileSync(join(root, path), 'utf8') };
}

/** Builds are folders with these files. */
function parts(
  t: TestContext,
  { root }: Checkout,
  more: Partial<ReleaseParts> = {},
): ReleaseParts & { lines: string[] } {
  const lines: string[] = [];
  const build = (text: string) => async () => {
    const out = folderOf(t);
    for (const name of ['a.deb', 'SHA256SUMS']) writeFileSync(join(out, name), text);
    return out;
  };
  return {
    ...{ root, version: '1.3.0', day: DAY, checks: () => [], sign: null, lines },
    ...{ buildElsewhere: build('1'), buildHere: build('1'), report: (line) => lines.push(line) },
    ...more,
  };
}

test('a release names its version in each place, and moves what is unreleased', async (t) => {
  const { read, git, ...checked } = checkout(t);
  await release(parts(t, { read, git, ...checked }));
  assert.equal(read('package.json'), FILES['package.json'].replace('1.2.0', '1.3.0'));
  assert.deepEqual(read('package-lock.json').match(/\d\.\d\.\d/g), ['1.3.0', '1.3.0', '1.2.0']);
  assert.match(read('deploy/helm/scheduled-events-bridge/Chart.yaml'), /^version: 1\.3\.0\nappVersion: "1\.3\.0"$/m);
  assert.equal(read('docs/install.md'), 'apt install ./scheduled-events-bridge_1.3.0_amd64.deb, with b 1.2.0\n');
  assert.equal(read('docs/old.md'), FILES['docs/old.md']);
  assert.equal(
    read('CHANGELOG.md'),
    `# Changelog\n\n## [Unreleased]\n\n## [1.3.0] - ${DAY}\n\n${NOTES}\n## [1.2.0] - 2026-01-01\n\n- The first.\n`,
  );
  assert.equal(
    read('deploy/consumer/CHANGELOG.md'),
    `# Changelog\n\n## [Unreleased]\n\n## [1.3.0] - ${DAY}\n\nNothing has changed.\n`,
  );
  assert.equal(git('status', '--porcelain'), '');
});

test('the commit and the annotated tag carry the version, and a build of the commit has it', async (t) => {
  const repository = checkout(t);
  const given = parts(t, repository);
  await release(given);
  assert.equal(repository.git('log', '-1', '--format=%s'), 'release: 1.3.0');
  assert.equal(repository.git('cat-file', '-t', 'v1.3.0'), 'tag');
  assert.equal(repository.git('rev-parse', 'v1.3.0^{commit}'), repository.git('rev-parse', 'HEAD'));
  assert.match(repository.git('tag', '--list', '--format=%(contents)'), /SHA-256 of SHA256SUMS: [0-9a-f]{64}/);
  assert.equal(await buildVersion(repository.root, '1.3.0'), '1.3.0');
  assert.ok(given.lines.some((line) => line.startsWith('unsigned')));
});

test('the files are signed after the checks, and a check that could not run is reported', async (t) => {
  const steps: string[] = [];
  const checks = () => [
    { name: 'one', run: async () => (steps.push('one') > 0 ? null : 'never') },
    { name: 'two', run: async () => 'helm is not installed' },
  ];
  const sign = async () => void steps.push('sign');
  const given = parts(t, checkout(t), { checks, sign });
  await release(given);
  assert.deepEqual(steps, ['one', 'sign']);
  assert.ok(given.lines.includes('not checked: two: helm is not installed'));
  assert.ok(!given.lines.some((line) => line.startsWith('unsigned')));
});

const CHANGELOG = (section: string) => ({ 'CHANGELOG.md': `# Changelog\n\n## [Unreleased]\n${section}\n## [1.2.0]\n` });
const REFUSED: readonly (readonly [string, RegExp, Partial<ReleaseParts>, Readonly<Record<string, string>>])[] = [
  ['a version that is equal to the last one', /1\.2\.0 is not newer/, { version: '1.2.0' }, {}],
  ['an older version', /1\.1\.10 is not newer/, { version: '1.1.10' }, {}],
  ['what is not a version', /not a version/, { version: '1.3' }, {}],
  ['a pre-release', /not a version/, { version: '1.3.0-rc.1' }, {}],
  ['a changelog with nothing new', /nothing under \[Unreleased\]/, {}, CHANGELOG('')],
  ['a changelog without upgrade notes', /no text under "### Upgrade notes"/, {}, CHANGELOG('\n### Fixed\n\n- A.\n')],
  ['empty upgrade notes', /no text under/, {}, CHANGELOG('\n### Upgrade notes\n\n### Fixed\n\n- A.\n')],
  ['a changelog without Unreleased', /no line "## \[Unreleased\]"/, {}, { 'CHANGELOG.md': '# Changelog\n' }],
];
for (const [what, message, more, files] of REFUSED)
  test(`${what} is refused, and nothing is changed`, async (t) => {
    const repository = checkout(t, files);
    const head = repository.git('rev-parse', 'HEAD');
    await assert.rejects(release(parts(t, repository, more)), message);
    assert.deepEqual([repository.git('rev-parse', 'HEAD'), repository.git('status', '--porcelain')], [head, '']);
    assert.equal(repository.git('tag', '--list'), '');
  });

for (const [what, path] of [
  ['a changed file', 'docs/old.md'],
  ['an unknown file', 'notes.txt'],
] as const)
  test(`a tree with ${what} is refused, and the file stays as it is`, async (t) => {
    const repository = checkout(t);
    repository.write(path, 'mine');
    await assert.rejects(release(parts(t, repository)), new RegExp(`not clean[^]*${path}`));
    assert.equal(repository.read(path), 'mine');
  });

test('a version that has a tag is refused', async (t) => {
  const repository = checkout(t);
  repository.git('tag', 'v1.3.0');
  await assert.rejects(release(parts(t, repository)), /the tag v1\.3\.0 exists/);
});

test('if the commit fails, the tree is as it was', async (t) => {
  const repository = checkout(t);
  mkdirSync(join(repository.root, '.git/hooks'), { recursive: true });
  writeFileSync(join(repository.root, '.git/hooks/pre-commit'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  await assert.rejects(release(parts(t, repository)), /git commit/);
  assert.equal(repository.git('status', '--porcelain'), '');
  assert.equal(repository.read('package.json'), FILES['package.json']);
});

test('a build that differs, a check or a key that fails: no tag, and the message says how to go back', async (t) => {
  const fails = async () => {
    throw new Error('it is broken');
  };
  const other = async () => {
    const out = folderOf(t);
    for (const [name, text] of [
      ['a.deb', '2'],
      ['SHA256SUMS', '1'],
      ['b.rpm', '1'],
    ] as const)
      writeFileSync(join(out, name), text);
    return out;
  };
  for (const [more, message] of [
    [{ buildElsewhere: other }, /differ in a\.deb, b\.rpm\n/],
    [{ buildHere: fails }, /it is broken/],
    [{ checks: () => [{ name: 'one', run: fails }] }, /it is broken/],
    [{ sign: fails }, /it is broken/],
  ] as const) {
    const repository = checkout(t);
    const head = repository.git('rev-parse', 'HEAD');
    await assert.rejects(release(parts(t, repository, more)), (error: Error) => {
      assert.match(error.message, message);
      const [, way = ''] = /To go back: git (.*)$/.exec(error.message) ?? [];
      repository.git(...way.split(' '));
      return true;
    });
    assert.deepEqual([repository.git('rev-parse', 'HEAD'), repository.git('tag', '--list')], [head, '']);
    assert.equal(repository.read('package.json'), FILES['package.json']);
  }
});

test('what would change is listed without a change', async (t) => {
  const repository = checkout(t);
  const edits = await plannedEdits({ root: repository.root, version: '2.0.0', day: DAY });
  const paths = Object.keys(FILES).filter((path) => path !== 'docs/old.md');
  assert.deepEqual([...edits.keys()].sort(), paths.sort());
  assert.deepEqual([repository.git('status', '--porcelain'), existsSync(join(repository.root, 'dist'))], ['', false]);
});

for (const [what, args, message] of [
  ['no version', [], /^not released: usage: npm run release/],
  ['two versions', ['1.2.3', '1.2.4'], /^not released: usage: npm run release/],
  ['an unknown option', ['1.2.3', '--force'], /^not released: .*--force/],
] as const)
  test(`the command with ${what} ends with exit code 1 and changes nothing`, () => {
    const command = join(import.meta.dirname, '../../deploy/release/command.ts');
    const { status, stderr } = spawnSync(process.execPath, [command, ...args], { encoding: 'utf8' });
    assert.equal(status, 1);
    assert.match(stderr, message);
  });
