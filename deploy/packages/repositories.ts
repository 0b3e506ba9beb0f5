// The .deb and .rpm of a folder → an apt and a yum repository, signed if a key is given.
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import packageJson from '../../package.json' with { type: 'json' };
import { ARCHITECTURES, DEBIAN_NAME } from './architectures.ts';
import { run } from './run.ts';

interface RepositoryParts {
  /** The folder with the packages. */
  readonly packages: string;
  /** The folder of both repositories. Packages of earlier versions stay in it, so that machines can go back. */
  readonly target: string;
  /** The time in the indexes. */
  readonly at: Date;
  /** The file of a private OpenPGP key without a password, or the id of a key of this user; none: unsigned. */
  readonly gpgKey?: string;
}

const KEY_FILE = `${packageJson.name}.asc`;

/** Needs apt-ftparchive (apt-utils) and createrepo_c. @throws Error if one of them or gpg fails */
export async function makeRepositories({ packages, target, at, gpgKey }: RepositoryParts): Promise<void> {
  const [apt, yum] = [join(target, 'apt'), join(target, 'yum')];
  await addPackages(packages, '.deb', join(apt, 'pool/main'), at);
  await addPackages(packages, '.rpm', yum, at);
  const release = await indexApt(apt, at);
  await indexYum(yum, at);
  const signed = [join(release, 'InRelease'), join(release, 'Release.gpg'), join(yum, 'repodata/repomd.xml.asc')];
  for (const file of [...signed, join(target, KEY_FILE)]) await rm(file, { force: true });
  if (gpgKey) await signAll(release, yum, join(target, KEY_FILE), gpgKey);
}

async function addPackages(from: string, ending: string, to: string, at: Date): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of (await readdir(from)).filter((each) => each.endsWith(ending))) {
    await copyFile(join(from, name), join(to, name));
    await utimes(join(to, name), at, at);
  }
}

/** Returns the folder of the file Release. */
async function indexApt(apt: string, at: Date): Promise<string> {
  const release = join(apt, 'dists/stable');
  await rm(release, { recursive: true, force: true });
  const names = ARCHITECTURES.map((each) => DEBIAN_NAME[each]);
  for (const name of names) {
    const folder = join(release, `main/binary-${name}`);
    await mkdir(folder, { recursive: true });
    const found = await run('apt-ftparchive', ['--arch', name, 'packages', 'pool/main'], { cwd: apt });
    const index = found
      .split('\n\n')
      .filter(Boolean)
      .sort()
      .map((entry) => `${entry.trim()}\n\n`)
      .join('');
    await writeFile(join(folder, 'Packages'), index);
    await writeFile(join(folder, 'Packages.gz'), gzipSync(index, { level: 9 }));
  }
  const fields = { Origin: packageJson.name, Suite: 'stable', Codename: 'stable', Components: 'main' };
  const options = Object.entries({ ...fields, Architectures: names.join(' ') }).flatMap(([field, value]) => [
    '-o',
    `APT::FTPArchive::Release::${field}=${value}`,
  ]);
  const text = await run('apt-ftparchive', [...options, 'release', 'dists/stable'], { cwd: apt });
  const date = at.toUTCString().replace('GMT', '+0000');
  await writeFile(join(release, 'Release'), text.replace(/^Date: .*$/m, `Date: ${date}`));
  return release;
}

async function indexYum(yum: string, at: Date): Promise<void> {
  const revision = String(at.getTime() / 1000);
  await run('createrepo_c', ['--quiet', '--no-database', '--set-timestamp-to-revision', '--revision', revision, yum]);
}

async function signAll(release: string, yum: string, publicKey: string, key: string): Promise<void> {
  const isFile = await stat(key).then(
    (found) => found.isFile(),
    () => false,
  );
  const home = await mkdtemp(join(tmpdir(), 'gpg-'));
  try {
    const gpg = (...args: string[]) =>
      run('gpg', ['--batch', '--yes', ...(isFile ? ['--homedir', home] : ['--local-user', key]), '--armor', ...args]);
    if (isFile) await gpg('--import', key);
    await gpg('--output', join(release, 'InRelease'), '--clear-sign', join(release, 'Release'));
    for (const [file, signature] of [
      [join(release, 'Release'), join(release, 'Release.gpg')],
      [join(yum, 'repodata/repomd.xml'), join(yum, 'repodata/repomd.xml.asc')],
    ] as const)
      await gpg('--output', signature, '--detach-sign', file);
    await gpg('--output', publicKey, '--export', ...(isFile ? [] : [key]));
    if ((await readFile(publicKey)).length === 0) throw new Error(`gpg has no public key of ${key}`);
  } finally {
    if (isFile) await run('gpgconf', ['--homedir', home, '--kill', 'gpg-agent']).catch(() => undefined);
    await rm(home, { recursive: true, force: true });
  }
}
