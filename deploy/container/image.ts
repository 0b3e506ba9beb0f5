// The programs' folders and Debian's packages → a reproducible OCI image index in one tar.
import { chmod, copyFile, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { withDebianPackages } from '../../sbom.ts';
import { epoch } from '../packages/linux-packages.ts';
import type { PackageParts } from '../packages/program-folder.ts';
import { run } from '../packages/run.ts';
import { makeBaseSystem, USER } from './base-system.ts';
import { writeLayout } from './layout.ts';

const NAME = packageJson.name;
const HOME = `usr/lib/${NAME}`;

/** Makes one file with an image for each program: the index that registries have. */
export async function makeImages(programs: readonly PackageParts[]): Promise<void> {
  const [first] = programs;
  if (first === undefined) return;
  const { work, version, out, at } = first;
  const images = [];
  for (const parts of programs)
    images.push({
      architecture: parts.architecture,
      layers: await makeLayers(parts, join(work, 'image', parts.architecture)),
    });
  await writeLayout({ folder: join(work, 'layout'), images, name: NAME, version, at, user: USER });
  await tar('--create', join(out, `${NAME}-${version}-oci.tar`), join(work, 'layout'), at);
}

/**
 * Makes three layers: Debian's libraries, Node, the program. A new version of the program changes only the third layer.
 */
async function makeLayers(
  { root, architecture, program, work, at }: PackageParts,
  folder: string,
): Promise<readonly string[]> {
  const layer = (name: string) => join(folder, name);
  const cache = join(root, 'node_modules/.cache/container-base');
  const base = await makeBaseSystem({ architecture, folder: layer('base'), work: layer('packages'), cache });
  await makeNodeLayer(program, layer('node'));
  await makeProgramLayer(program, layer('program'));
  await copyFile(join(work, 'bridge.yaml'), join(layer('program'), `etc/${NAME}/bridge.yaml`));
  const bom = await readFile(join(program, 'sbom.cdx.json'), 'utf8');
  await writeFile(join(layer('program'), HOME, 'sbom.cdx.json'), withDebianPackages(bom, base));
  const layers: string[] = [];
  for (const name of ['base', 'node', 'program']) layers.push(await archive(layer(name), at));
  await addFolders(layers.at(-1) ?? '', layer('empty'), at);
  return layers;
}

async function makeNodeLayer(program: string, folder: string): Promise<void> {
  const home = join(folder, HOME);
  await mkdir(join(home, 'bin'), { recursive: true });
  await copyFile(join(program, 'bin/node'), join(home, 'bin/node'));
  await copyFile(join(program, 'NODE-LICENSE'), join(home, 'NODE-LICENSE'));
}

/** The command is dist/main.js itself: the packages' launcher needs a shell. */
async function makeProgramLayer(program: string, folder: string): Promise<void> {
  const home = join(folder, HOME);
  await cp(program, home, { recursive: true });
  await rm(join(home, 'bin'), { recursive: true });
  await rm(join(home, 'NODE-LICENSE'));
  const main = join(home, 'dist/main.js');
  await writeFile(main, (await readFile(main, 'utf8')).replace('#!/usr/bin/env node', `#!/${HOME}/bin/node`));
  await chmod(main, 0o755);
  await mkdir(join(folder, 'usr/bin'), { recursive: true });
  await symlink(`../lib/${NAME}/dist/main.js`, join(folder, 'usr/bin', NAME));
  await mkdir(join(folder, 'etc', NAME), { recursive: true });
}

/** Makes a tar of a folder, next to it. */
async function archive(folder: string, at: Date): Promise<string> {
  await tar('--create', `${folder}.tar`, folder, at);
  return `${folder}.tar`;
}

/** Creates two empty folders: the state, owned by the bridge's user, and /tmp, writable for all users. */
async function addFolders(layer: string, empty: string, at: Date): Promise<void> {
  for (const [path, mode, owner] of [
    [`var/lib/${NAME}`, '0700', USER],
    ['tmp', '1777', 0],
  ] as const) {
    await mkdir(join(empty, path), { recursive: true });
    await tar('--append', layer, empty, at, { names: [path], mode, owner });
  }
}

interface Entries {
  readonly names: readonly string[];
  readonly mode: string;
  readonly owner: number;
}

/** Options for modes, times, owners and an order that do not depend on the user and time of the build. */
async function tar(
  action: '--create' | '--append',
  file: string,
  folder: string,
  at: Date,
  entries?: Entries,
): Promise<void> {
  const { names, mode, owner } = entries ?? { names: (await readdir(folder)).sort(), mode: 'u=rwX,go=rX', owner: 0 };
  const sameForAll = ['--format=ustar', '--sort=name', '--numeric-owner', `--mtime=@${epoch(at).SOURCE_DATE_EPOCH}`];
  await run('tar', [
    action,
    ...sameForAll,
    `--owner=${owner}`,
    `--group=${owner}`,
    `--mode=${mode}`,
    `--file=${file}`,
    '-C',
    folder,
    ...names,
  ]);
}
