// Packages → repositories that the real apt and dnf verify and read.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeLinuxPackages } from '../../deploy/packages/linux-packages.ts';
import { makeRepositories } from '../../deploy/packages/repositories.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { noPackages } from './built-packages.ts';
import { command } from './command.ts';

const NAME = packageJson.name;
const options = { skip: noPackages };
const FOLDER = mkdtempSync(join(tmpdir(), 'repositories-'));
const KEY = join(FOLDER, 'key.asc');
const at = new Date('2026-01-02T03:04:05Z');
after(() => rmSync(FOLDER, { recursive: true }));

before(async () => {
  if (noPackages) return;
  for (const version of ['1.0.0', '1.1.0']) await smallPackages(version);
  const home = join(FOLDER, 'gpg');
  mkdirSync(home, { mode: 0o700 });
  const gpg = (...args: string[]) => command('gpg', ['--batch', '--homedir', home, '--passphrase', '', ...args]);
  gpg('--quick-generate-key', 'test <test@example.com>', 'rsa2048', 'sign', 'never');
  writeFileSync(KEY, gpg('--armor', '--export-secret-keys'));
  command('gpgconf', ['--homedir', home, '--kill', 'gpg-agent']);
  await repositories('signed', KEY);
});

/** As `npm run package` makes them, of a program that prints its version. */
async function smallPackages(version: string): Promise<void> {
  const [work, out] = [join(FOLDER, version), join(FOLDER, version, 'out')];
  const program = join(work, 'program');
  for (const each of [join(program, 'bin'), out]) mkdirSync(each, { recursive: true });
  writeFileSync(join(program, 'bin', NAME), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
  writeFileSync(join(work, 'bridge.yaml'), 'version: 1\n');
  const root = join(import.meta.dirname, '../..');
  await makeLinuxPackages({ root, version, architecture: 'x64', program, work, out, at });
}

async function repositories(name: string, gpgKey?: string): Promise<string> {
  const target = join(FOLDER, name);
  for (const version of ['1.0.0', '1.1.0'])
    await makeRepositories({ packages: join(FOLDER, version, 'out'), target, at, ...(gpgKey && { gpgKey }) });
  return target;
}

/** apt in a root of its own. */
function apt(key: string, ...args: string[]): string {
  const root = mkdtempSync(join(FOLDER, 'apt-'));
  for (const each of ['etc/apt/apt.conf.d', 'etc/apt/preferences.d', 'state/lists/partial', 'cache/archives/partial'])
    mkdirSync(join(root, each), { recursive: true });
  writeFileSync(join(root, 'status'), '');
  const source = `deb [arch=amd64 signed-by=${key}] file:${join(FOLDER, 'signed/apt')} stable main\n`;
  writeFileSync(join(root, 'sources.list'), source);
  const own = Object.entries({
    'Dir::Etc': join(root, 'etc/apt'),
    'Dir::Etc::sourcelist': join(root, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'Dir::State': join(root, 'state'),
    'Dir::State::status': join(root, 'status'),
    'Dir::Cache': join(root, 'cache'),
    'APT::Sandbox::User': 'root',
  }).flatMap(([option, value]) => ['-o', `${option}=${value}`]);
  command('apt-get', [...own, '--error-on=any', 'update']);
  return command('apt-cache', [...own, ...args]);
}

test('apt verifies the signature and lists both versions, so that a machine can go back', options, () => {
  const listed = apt(join(FOLDER, `signed/${NAME}.asc`), 'madison', NAME);
  assert.deepEqual(listed.match(/1\.\d\.0/g), ['1.1.0', '1.0.0']);
});

test('apt rejects the repository with another key', options, () => {
  const home = join(FOLDER, 'other');
  mkdirSync(home, { mode: 0o700 });
  const gpg = (...args: string[]) => command('gpg', ['--batch', '--homedir', home, '--passphrase', '', ...args]);
  gpg('--quick-generate-key', 'other <other@example.com>', 'rsa2048', 'sign', 'never');
  writeFileSync(join(FOLDER, 'other.asc'), gpg('--armor', '--export'));
  command('gpgconf', ['--homedir', home, '--kill', 'gpg-agent']);
  assert.throws(() => apt(join(FOLDER, 'other.asc'), 'madison', NAME), /NO_PUBKEY/);
});

test('dnf verifies the signature and lists both versions', options, () => {
  const yum = join(FOLDER, 'signed/yum');
  const key = `file://${join(FOLDER, `signed/${NAME}.asc`)}`;
  const repo = `[own]\nname=own\nbaseurl=file://${yum}\nenabled=1\nrepo_gpgcheck=1\ngpgcheck=0\ngpgkey=${key}\n`;
  mkdirSync(join(FOLDER, 'repos'));
  writeFileSync(join(FOLDER, 'repos/own.repo'), repo);
  const own = [
    `reposdir=${join(FOLDER, 'repos')}`,
    `cachedir=${join(FOLDER, 'dnf')}`,
    'module_platform_id=platform:el9',
  ];
  const listed = command('dnf', [
    ...['--assumeyes', '--quiet', '--releasever=9', '--installroot', join(FOLDER, 'root')],
    ...own.map((option) => `--setopt=${option}`),
    ...['list', '--available', '--showduplicates', NAME],
  ]);
  assert.deepEqual(listed.match(/1\.\d\.0-1/g), ['1.0.0-1', '1.1.0-1']);
});

test('two unsigned repositories of the same packages are equal, and have no signature', options, async () => {
  const sums = (folder: string) => command('sh', ['-c', 'find . -type f | sort | xargs sha256sum'], folder);
  const [one, two] = [await repositories('one'), await repositories('two')];
  assert.equal(sums(one), sums(two));
  assert.deepEqual(readdirSync(join(one, 'apt/dists/stable')).sort(), ['Release', 'main']);
});
