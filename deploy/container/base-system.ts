// Debian's packages → the base folder of the image: libraries, names of users, licences.
import { cp, glob, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DebianPackage } from '../../sbom.ts';
import { type Architecture, DEBIAN_NAME } from '../packages/architectures.ts';
import { run } from '../packages/run.ts';

/**
 * The libraries that Node links to, and the files that identify them for scanners. Node has its own certificate
 * authorities and time zones.
 */
const PACKAGES = ['base-files', 'gcc-12-base', 'libc6', 'libgcc-s1', 'libstdc++6'];
const DEBIAN = '12';
/** The files of the packages that go into the image. The rest of libc6 is for locales, NIS and tracing. */
const WANTED = [
  /^lib64\//,
  /^lib\/ld-linux/,
  /^lib\/[a-z\d_]+-linux-gnu\/ld-linux/,
  /^lib\/[a-z\d_]+-linux-gnu\/lib(?:c|m|dl|pthread|rt|resolv|gcc_s|nss_(?:dns|files))\.so\./,
  /^usr\/lib\/[a-z\d_]+-linux-gnu\/libstdc\+\+\.so\./,
  /^usr\/lib\/os-release$/,
  /^usr\/share\/common-licenses\//,
  /^usr\/share\/doc\/[^/]+(?:\/copyright)?$/,
];

/** No user of the host: far above the ids that systems assign, and common in images without a shell. */
export const USER = 65_532;
const NAMES: Readonly<Record<string, string>> = {
  'etc/passwd': `root:x:0:0:root:/:/nonexistent\nbridge:x:${USER}:${USER}:scheduled-events-bridge:/:/nonexistent\n`,
  'etc/group': `root:x:0:\nbridge:x:${USER}:\n`,
  'etc/nsswitch.conf': 'hosts: files dns\n',
};

interface BaseSystemParts {
  readonly architecture: Architecture;
  /** The folder to create. */
  readonly folder: string;
  /** A temporary folder. */
  readonly work: string;
  /** The folder that keeps fetched packages. */
  readonly cache: string;
}

/** @throws on another system than Debian, unless CONTAINER_BASE names a folder with the packages */
export async function makeBaseSystem(parts: BaseSystemParts): Promise<readonly DebianPackage[]> {
  const { folder, work } = parts;
  const found: DebianPackage[] = [];
  for (const archive of await debianPackages(parts)) {
    const unpacked = join(work, basename(archive, '.deb'));
    await mkdir(unpacked, { recursive: true });
    await run('dpkg-deb', ['--extract', archive, unpacked]);
    await takeWanted(unpacked, folder);
    const control = await run('dpkg-deb', ['--field', archive]);
    const described = describe(control);
    // Scanners look here for Debian's packages in images without dpkg.
    await place(folder, `var/lib/dpkg/status.d/${described.name}`, control);
    found.push(described);
  }
  await symlink('../usr/lib/os-release', join(await made(folder, 'etc'), 'os-release'));
  for (const [path, text] of Object.entries(NAMES)) await place(folder, path, text);
  return found;
}

/** Returns the packages of CONTAINER_BASE, or those that apt would install now. */
async function debianPackages({ work, cache, architecture }: BaseSystemParts): Promise<readonly string[]> {
  const suffix = `_${DEBIAN_NAME[architecture]}.deb`;
  const given = process.env['CONTAINER_BASE'];
  if (given) {
    const names = (await readdir(given)).sort();
    return PACKAGES.map((name) => {
      const archive = names.find((each) => each.startsWith(`${name}_`) && each.endsWith(suffix));
      if (archive === undefined)
        throw new Error(`CONTAINER_BASE: ${given} has no ${name}_VERSION${suffix} of Debian ${DEBIAN}`);
      return join(given, archive);
    });
  }
  await requireDebian();
  for (const each of [work, cache]) await mkdir(each, { recursive: true });
  const apt = await aptFor(architecture, work);
  // Run in an empty folder, because apt does not list files that it has already downloaded.
  const empty = await made(work, 'empty');
  const listed = await run('apt-get', [...apt, 'download', '--quiet', '--print-uris', ...PACKAGES], { cwd: empty });
  const archives = [...listed.matchAll(/^'[^']+' (\S+\.deb) /gm)].map(([, name = '']) => name).sort();
  if (archives.length !== PACKAGES.length)
    throw new Error(`apt does not know all of ${PACKAGES.join(' ')}: run apt-get update`);
  const there = new Set(await readdir(cache));
  if (archives.some((name) => !there.has(name)))
    await run('apt-get', [...apt, 'download', '--quiet', ...PACKAGES], { cwd: cache });
  return archives.map((name) => join(cache, name));
}

/** Returns the options for packages of another architecture than this machine's, whose lists it fetches. */
async function aptFor(architecture: Architecture, work: string): Promise<readonly string[]> {
  if (architecture === 'x64') return [];
  const state = await made(work, 'apt');
  for (const folder of ['lists/partial', 'cache/archives/partial']) await made(state, folder);
  await place(state, 'status', '');
  const settings = {
    'APT::Architecture': DEBIAN_NAME[architecture],
    'APT::Architectures': DEBIAN_NAME[architecture],
    'APT::Sandbox::User': '',
    'Dir::State::Lists': join(state, 'lists'),
    'Dir::State::Status': join(state, 'status'),
    'Dir::Cache': join(state, 'cache'),
  };
  const options = Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  await run('apt-get', [...options, 'update', '--quiet']);
  return options;
}

async function requireDebian(): Promise<void> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  if (/^ID=debian$/m.test(release) && release.includes(`VERSION_ID="${DEBIAN}"`)) return;
  throw new Error(
    `the image is made from packages of Debian ${DEBIAN}, and this is another system: set CONTAINER_BASE to a folder with the .deb files of ${PACKAGES.join(', ')}`,
  );
}

async function takeWanted(unpacked: string, folder: string): Promise<void> {
  for await (const entry of glob('**/*', { cwd: unpacked, withFileTypes: true })) {
    const from = join(entry.parentPath, entry.name);
    const path = from.slice(unpacked.length + 1);
    if (entry.isDirectory() || !WANTED.some((wanted) => wanted.test(path))) continue;
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await cp(from, join(folder, path), { verbatimSymlinks: true });
  }
}

function describe(control: string): DebianPackage {
  const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(control)?.[1] ?? '';
  return { name: field('Package'), version: field('Version'), architecture: field('Architecture') };
}

async function place(folder: string, path: string, text: string): Promise<void> {
  await made(folder, dirname(path));
  await writeFile(join(folder, path), text);
}

async function made(folder: string, path: string): Promise<string> {
  const target = join(folder, path);
  await mkdir(target, { recursive: true });
  return target;
}
