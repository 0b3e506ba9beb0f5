// dist/ → dist/packages/: .deb, .rpm, .tar.gz, .zip, .tgz, image, SHA256SUMS; always the same.
// Usage: node deploy/packages/package.ts [--out FOLDER] [--version VERSION] [--without-windows]; `npm run package`
// builds dist/ first.
import { createHash } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { makeImage } from '../container/image.ts';
import { goCommand } from '../windows/service-program.ts';
import { makeWindowsZip } from '../windows/windows-zip.ts';
import { freshConfig } from './fresh-config.ts';
import { epoch, makeLinuxPackages } from './linux-packages.ts';
import { emptyFolder, makeProgramFolder, normalize } from './program-folder.ts';
import { WINDOWS } from './reference-config.ts';
import { run } from './run.ts';

const ROOT = join(import.meta.dirname, '../..');
/**
 * For a source without git and without SOURCE_DATE_EPOCH: 1980-01-01, the oldest time that every archive format
 * supports.
 */
const NO_TIME = 315_532_800;

const { values } = parseArgs({
  options: { out: { type: 'string' }, version: { type: 'string' }, 'without-windows': { type: 'boolean' } },
});
const out = resolve(values.out ?? join(ROOT, 'dist/packages'));
const version = values.version ?? packageJson.version;
const work = await mkdtemp(join(tmpdir(), 'packages-'));
try {
  const at = await buildTime();
  if (!values['without-windows']) await goCommand();
  await emptyFolder(out);
  await writeFile(join(work, 'bridge.yaml'), await freshConfig(ROOT));
  const program = join(work, 'program');
  await makeProgramFolder({ root: ROOT, folder: program, at });
  await makeLinuxPackages({ root: ROOT, version, program, work, out, at });
  await makeArchive(program, at);
  if (!values['without-windows'])
    await makeWindowsZip({ root: ROOT, version, program, config: await freshConfig(ROOT, WINDOWS), work, out, at });
  await makeImage({ root: ROOT, version, program, work, out, at });
  await makeTarball(join(work, 'npm'), at);
  await cp(join(program, 'sbom.cdx.json'), join(out, 'sbom.cdx.json'));
  await writeFile(join(out, 'SHA256SUMS'), await checksums());
} finally {
  await rm(work, { recursive: true });
}

/** Returns SOURCE_DATE_EPOCH, or the time of the last commit. */
async function buildTime(): Promise<Date> {
  const given = process.env['SOURCE_DATE_EPOCH'];
  const seconds = given ?? (await run('git', ['log', '-1', '--format=%ct'], { cwd: ROOT }).catch(() => NO_TIME));
  return new Date(Number(seconds) * 1000);
}

/** Makes an archive of the program with unit and configuration, to unpack anywhere. */
async function makeArchive(program: string, at: Date): Promise<void> {
  const name = `${packageJson.name}-${version}-linux-x64`;
  const folder = join(work, name);
  await mkdir(folder);
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

/** Packs with npm from a copy, because npm keeps the file modes of the checkout, which depend on the user. */
async function makeTarball(folder: string, at: Date): Promise<void> {
  const packages = join(ROOT, 'dist/packages');
  for (const name of [
    'package.json',
    'README.md',
    'LICENSE',
    ...packageJson.files.filter((each) => !each.startsWith('!')),
  ])
    await cp(join(ROOT, name), join(folder, name), { recursive: true, filter: (path) => path !== packages });
  await normalize(folder, at);
  await chmod(join(folder, packageJson.bin['scheduled-events-bridge']), 0o755);
  await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', out], { cwd: folder });
}

/** Writes the checksums in the format of `sha256sum --check`. */
async function checksums(): Promise<string> {
  const names = (await readdir(out)).sort();
  const lines = names.map(
    async (name) =>
      `${createHash('sha256')
        .update(await readFile(join(out, name)))
        .digest('hex')}  ${name}\n`,
  );
  return (await Promise.all(lines)).join('');
}
