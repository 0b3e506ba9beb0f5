// `npm run package`, on the dist/ that is built: twice the same bytes, and what is in each package.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { packageVersion } from '../../version.ts';
import { BUILD_VERSION } from '../support/build-version.ts';
import { builtPackages, noPackages } from './built-packages.ts';
import { command } from './command.ts';

const NAME = packageJson.name;
const version = BUILD_VERSION;
const packaged = packageVersion(version);
const options = { skip: noPackages };

let folder = '';
before(() => {
  if (!noPackages) folder = builtPackages();
});

/** The one file whose name ends so. */
function packageOf(ending: string): string {
  return join(folder, readdirSync(folder).find((name) => name.endsWith(ending)) ?? assert.fail(ending));
}

/** A package, unpacked beside the others. */
function unpacked(ending: string): string {
  const target = join(folder, '..', `unpacked${ending}`);
  if (existsSync(target)) return target;
  mkdirSync(target);
  if (ending.endsWith('.deb')) command('dpkg-deb', ['-x', packageOf(ending), target]);
  else command('tar', ['-xzf', packageOf(ending), '-C', target]);
  return target;
}

test('each kind of package exists once, with a checksum', options, () => {
  const names = [
    ...[
      'SHA256SUMS',
      'sbom.cdx.json',
      `${NAME}-${version}.provenance.json`,
      `${NAME}-${packaged}-1.x86_64.rpm`,
      `${NAME}-${packaged}-1.aarch64.rpm`,
      `${NAME}-${version}-linux-x64.tar.gz`,
      `${NAME}-${version}-linux-arm64.tar.gz`,
      `${NAME}-${version}.tgz`,
      `${NAME}-consumer-${version}.tgz`,
    ],
    ...[`${NAME}_${packaged}_amd64.deb`, `${NAME}_${packaged}_arm64.deb`],
    ...[`${NAME}-${version}-oci.tar`, `${NAME}-${version}-windows-x64.zip`],
  ];
  assert.deepEqual(readdirSync(folder).sort(), names.sort());
  const checked = command('sha256sum', ['--check', 'SHA256SUMS'], folder).trim().split('\n');
  assert.equal(checked.length, names.length - 1);
  const { subject } = JSON.parse(readFileSync(packageOf('.provenance.json'), 'utf8'));
  assert.equal(subject.length, names.length - 2);
});

test('a second build by a user with a private umask gives the same bytes', options, () => {
  const sums = (path: string) => readFileSync(join(path, 'SHA256SUMS'), 'utf8');
  const before = process.umask(0o077);
  try {
    assert.equal(sums(builtPackages()), sums(folder));
  } finally {
    process.umask(before);
  }
});

test('the archive runs from any folder, with its own Node, and through a link', options, () => {
  const home = join(unpacked('-linux-x64.tar.gz'), `${NAME}-${version}-linux-x64`);
  const bare = { PATH: '/usr/bin:/bin' };
  assert.equal(command(join(home, `bin/${NAME}`), ['--version'], '/', bare), `${version}\n`);
  command('ln', ['-s', join(home, `bin/${NAME}`), join(home, 'link')]);
  assert.equal(command(join(home, 'link'), ['--version'], '/', bare), `${version}\n`);
  assert.equal(command(join(home, 'bin/node'), ['--version']), `v${packageJson.devDependencies.node}\n`);
  assert.match(command(join(home, `bin/${NAME}`), ['check', '--config', join(home, 'bridge.yaml')]), /is valid/);
});

test('every package contains the licences of bundled software and of Node, and lists both', options, () => {
  const home = join(unpacked('_amd64.deb'), `usr/lib/${NAME}`);
  assert.match(readFileSync(join(home, 'dist/THIRD-PARTY-NOTICES'), 'utf8'), /^rxjs 7/m);
  assert.match(readFileSync(join(home, 'NODE-LICENSE'), 'utf8'), /Node\.js is licensed for use/);
  const { components } = JSON.parse(readFileSync(join(home, 'sbom.cdx.json'), 'utf8'));
  const names = components.map(({ name, version }: { name: string; version: string }) => `${name} ${version}`);
  assert.ok(names.includes(`node ${packageJson.devDependencies.node}`));
  assert.ok(names.length > 20, String(names.length));
  assert.deepEqual(
    readdirSync(join(home, 'dist')).filter((name) => name === 'types' || name === 'packages' || name.endsWith('.map')),
    [],
  );
  const [tgz, rpm] = [
    command('tar', ['-tzf', packageOf(`${NAME}-${version}.tgz`)]),
    command('rpm', ['-qpl', packageOf('.x86_64.rpm')]),
  ];
  for (const list of [tgz, rpm]) assert.match(list, /dist\/THIRD-PARTY-NOTICES$/m);
  assert.match(tgz, /dist\/sbom\.cdx\.json$/m);
  assert.match(rpm, /NODE-LICENSE$/m);
});

test('the .zip has the files that Windows needs, and unzip reads it', options, () => {
  const zip = packageOf('-windows-x64.zip');
  command('unzip', ['-tqq', zip]);
  const paths = command('unzip', ['-Z1', zip]).trim().split('\n');
  const top = paths
    .map((path) => path.replace(`${NAME}-${version}-windows-x64/`, ''))
    .filter((path) => !path.startsWith('dist/'));
  const programs = [
    'node.exe',
    `${NAME}.cmd`,
    `${NAME}-service.exe`,
    'install.ps1',
    'uninstall.ps1',
    'bridge.yaml',
    'package.json',
  ];
  assert.deepEqual(top.sort(), [...programs, 'LICENSE', 'NODE-LICENSE', 'SERVICE-LICENSES', 'sbom.cdx.json'].sort());
  for (const name of ['main.js', 'THIRD-PARTY-NOTICES'])
    assert.ok(paths.some((path) => path.endsWith(`/dist/${name}`)));
  assert.equal(paths.filter((path) => /\.map$|\/dist\/(types|packages)\//.test(path)).length, 0);
});

test('.deb and .rpm have the manual page, and a completion script for each shell', options, () => {
  const common = [
    `/usr/share/man/man1/${NAME}.1.gz`,
    `/usr/share/bash-completion/completions/${NAME}`,
    `/usr/share/fish/vendor_completions.d/${NAME}.fish`,
  ];
  const deb = command('dpkg-deb', ['-c', packageOf('.deb')]);
  for (const path of [...common, `/usr/share/zsh/vendor-completions/_${NAME}`])
    assert.ok(deb.includes(`.${path}\n`), path);
  const rpm = command('rpm', ['-qpl', packageOf('.rpm')]).split('\n');
  for (const path of [...common, `/usr/share/zsh/site-functions/_${NAME}`]) assert.ok(rpm.includes(path), path);
});

test('lintian reports nothing about the .deb, and rpm reads the .rpm', options, () => {
  for (const ending of ['_amd64.deb', '_arm64.deb'])
    assert.equal(command('lintian', ['--allow-root', '--fail-on', 'error,warning', packageOf(ending)]), '');
  const questions = '%{NAME} %{VERSION} %{ARCH} %{LICENSE}\n';
  assert.equal(
    command('rpm', ['-qp', '--queryformat', questions, packageOf('.x86_64.rpm')]),
    `${NAME} ${packaged} x86_64 MIT\n`,
  );
  assert.match(command('rpm', ['-qpc', packageOf('.x86_64.rpm')]), /^\/etc\/scheduled-events-bridge\/bridge\.yaml\n$/);
});

test(
  'the .rpm requires libraries by the symbols that Node needs, not by package names of some distributions',
  options,
  () => {
    const symbols = command('objdump', ['-T', join(unpacked('_amd64.deb'), `usr/lib/${NAME}/bin/node`)]);
    const newest = (of: string) => {
      const versions = [...symbols.matchAll(new RegExp(`\\b${of}_([\\d.]+)`, 'g'))].map(([, found = '']) => found);
      return `${of}_${versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)}`;
    };
    const asked = command('rpm', ['-qpR', packageOf('.x86_64.rpm')]).split('\n');
    assert.deepEqual(
      asked.filter((each) => each !== '' && !each.startsWith('rpmlib')),
      [
        '/bin/sh',
        `libc.so.6(${newest('GLIBC')})(64bit)`,
        `libstdc++.so.6(${newest('GLIBCXX')})(64bit)`,
        `libgcc_s.so.1(${newest('GCC')})(64bit)`,
      ],
    );
  },
);
