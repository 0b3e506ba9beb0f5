// dist/ → dist/packages/: packages, image, SBOM, provenance, SHA256SUMS; always the same.
// Usage: node deploy/packages/package.ts [--out FOLDER] [--version VERSION] [--without-windows] [--key FILE];
// `npm run package` builds dist/ first. `--key` names a minisign key, which signs SHA256SUMS.
// `--repositories FOLDER [--gpg-key ID|FILE]` also adds the packages to an apt and a yum repository.
import { cp, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { makeImages } from '../container/image.ts';
import { goCommand } from '../windows/service-program.ts';
import { makeWindowsZip } from '../windows/windows-zip.ts';
import { ARCHITECTURES } from './architectures.ts';
import { freshConfig } from './fresh-config.ts';
import { epoch, makeLinuxPackages } from './linux-packages.ts';
import { makeConsumerPackage, makeNpmPackage } from './npm-packages.ts';
import { emptyFolder, makeProgramFolder, normalize, type PackageParts } from './program-folder.ts';
import { digests, provenance } from './provenance.ts';
import { WINDOWS } from './reference-config.ts';
import { makeRepositories } from './repositories.ts';
import { run } from './run.ts';
import { SUMS, sign } from './signature.ts';

const ROOT = join(import.meta.dirname, '../..');
/**
 * For a source without git and without SOURCE_DATE_EPOCH: 1980-01-01, the oldest time that every archive format
 * supports.
 */
const NO_TIME = 315_532_800;

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    version: { type: 'string' },
    'without-windows': { type: 'boolean' },
    key: { type: 'string' },
    repositories: { type: 'string' },
    'gpg-key': { type: 'string' },
  },
});
const out = resolve(values.out ?? join(ROOT, 'dist/packages'));
const version = values.version ?? (await builtVersion());
const work = await mkdtemp(join(tmpdir(), 'packages-'));
const started = performance.now();
try {
  const at = await buildTime();
  const parts = { root: ROOT, version, work, out, at };
  if (!values['without-windows']) await goCommand();
  await emptyFolder(out);
  await writeFile(join(work, 'bridge.yaml'), await freshConfig(ROOT));
  const programs: PackageParts[] = [];
  for (const architecture of ARCHITECTURES) {
    report(`Linux ${architecture}: .deb, .rpm, .tar.gz`);
    const program = join(work, 'program', architecture);
    await makeProgramFolder({ root: ROOT, version, architecture, folder: program, at });
    const linux = { ...parts, architecture, program };
    await makeLinuxPackages(linux);
    await makeArchive(linux);
    programs.push(linux);
  }
  const [{ program }] = programs as [PackageParts];
  if (!values['without-windows']) {
    report('Windows x64: .zip');
    await makeWindowsZip({ ...parts, program, config: await freshConfig(ROOT, WINDOWS) });
  }
  report('container image for both architectures');
  await makeImages(programs);
  report('npm: the bridge and the consumer library');
  await makeNpmPackage(parts);
  await makeConsumerPackage(parts);
  await cp(join(program, 'sbom.cdx.json'), join(out, 'sbom.cdx.json'));
  await writeFile(join(out, `${packageJson.name}-${version}.provenance.json`), await provenance(parts));
  await writeFile(join(out, SUMS), await checksums());
  if (values.key) await sign(out, values.key, `${packageJson.name} ${version}`);
  if (values.repositories) {
    const gpgKey = values['gpg-key'];
    report(
      `apt and yum repositories in ${values.repositories}${gpgKey ? '' : '; not signed (--gpg-key ID|FILE signs)'}`,
    );
    await makeRepositories({ packages: out, target: resolve(values.repositories), at, ...(gpgKey && { gpgKey }) });
  }
  await reportFiles();
} finally {
  await rm(work, { recursive: true });
}

/** Prints what is being made now, and the seconds since the start. */
function report(what: string): void {
  process.stdout.write(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${what}\n`);
}

async function reportFiles(): Promise<void> {
  report(`version ${version} is in ${out}${values.key ? '' : `; ${SUMS} is not signed (--key FILE signs it)`}`);
  for (const name of (await readdir(out)).sort())
    process.stdout.write(`  ${((await stat(join(out, name))).size / 1e6).toFixed(1).padStart(8)} MB  ${name}\n`);
}

/** Returns the version that dist/ says: its build knows the commit. */
async function builtVersion(): Promise<string> {
  return (await run(process.execPath, [join(ROOT, 'dist/main.js'), '--version'])).trim();
}

/** Returns SOURCE_DATE_EPOCH, or the time of the last commit. */
async function buildTime(): Promise<Date> {
  const given = process.env['SOURCE_DATE_EPOCH'];
  const seconds = given ?? (await run('git', ['log', '-1', '--format=%ct'], { cwd: ROOT }).catch(() => NO_TIME));
  return new Date(Number(seconds) * 1000);
}

/** Makes an archive of the program with unit and configuration, to unpack anywhere. */
async function makeArchive({ architecture, program, at }: PackageParts): Promise<void> {
  const name = `${packageJson.name}-${version}-linux-${architecture}`;
  const folder = join(work, name);
  await cp(program, folder, { recursive: true });
  await cp(join(work, 'bridge.yaml'), join(folder, 'bridge.yaml'));
  await cp(
    join(ROOT, 'deploy/systemd/scheduled-events-bridge.service'),
    join(folder, 'scheduled-events-bridge.service'),
  );
  await normalize(folder, at);
  const sameForAll = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    `--mtime=@${epoch(at).SOURCE_DATE_EPOCH}`,
  ];
  await run('tar', [
    '--create',
    ...sameForAll,
    '--use-compress-program=gzip -n',
    `--file=${join(out, `${name}.tar.gz`)}`,
    '-C',
    work,
    name,
  ]);
}

/** Writes the checksums in the format of `sha256sum --check`. */
async function checksums(): Promise<string> {
  return (await digests(out)).map(({ name, digest }) => `${digest.sha256}  ${name}\n`).join('');
}
