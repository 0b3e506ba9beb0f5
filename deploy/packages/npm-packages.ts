// dist/ and the consumer library's source → two .tgz files as npm publishes them.
import { chmod, cp, glob, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, normalize as normalizePath } from 'node:path';
import { build } from 'esbuild';
import packageJson from '../../package.json' with { type: 'json' };
import { withAbsoluteLinks } from './links.ts';
import { normalize } from './program-folder.ts';
import { run } from './run.ts';

interface NpmParts {
  /** The root of the checkout; dist/ is built. */
  readonly root: string;
  readonly version: string;
  /** A temporary folder. */
  readonly work: string;
  readonly out: string;
  /** The time of every file. */
  readonly at: Date;
}

export const CONSUMER = `${packageJson.name}-consumer`;

/** What both packages say about the project. */
const { author, bugs, homepage, license, repository } = packageJson;
const PROJECT = { author, bugs, homepage, license, repository };

/**
 * Makes the package of the bridge, without its scripts and development dependencies. Packs a copy, because npm keeps
 * the file modes of the checkout, which depend on the user.
 */
export async function makeNpmPackage({ root, version, work, out, at }: NpmParts): Promise<string> {
  const folder = join(work, 'npm');
  const packages = join(root, 'dist/packages');
  const names = packageJson.files.filter((name) => !name.startsWith('!'));
  for (const name of ['README.md', 'LICENSE', ...names])
    await cp(join(root, name), join(folder, name), {
      recursive: true,
      filter: (path) => path !== packages && !path.endsWith('.map'),
    });
  const { scripts: _scripts, devDependencies: _devDependencies, ...manifest } = packageJson;
  await writeManifest(folder, { ...manifest, version });
  await linkOutside(folder, '.');
  await normalize(folder, at);
  await chmod(join(folder, packageJson.bin['scheduled-events-bridge']), 0o755);
  return await pack(folder, out, `${packageJson.name}-${version}.tgz`);
}

/** Makes the package of the consumer library alone: one module, its types, a page and examples. */
export async function makeConsumerPackage({ root, version, work, out, at }: NpmParts): Promise<string> {
  const folder = join(work, 'consumer');
  await mkdir(folder, { recursive: true });
  await build({
    entryPoints: [join(root, 'src/consumer.ts')],
    outfile: join(folder, 'index.js'),
    ...{ bundle: true, format: 'esm', platform: 'node', target: 'node22', minifySyntax: true, minifyWhitespace: true },
    logLevel: 'warning',
  });
  await copyTypes(join(root, 'dist/types'), 'consumer.d.ts', join(folder, 'types'));
  await cp(join(root, 'deploy/consumer'), folder, { recursive: true });
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  await writeManifest(folder, consumerManifest(version));
  await linkOutside(folder, 'deploy/consumer');
  await normalize(folder, at);
  return await pack(folder, out, `${CONSUMER}-${version}.tgz`);
}

function consumerManifest(version: string): object {
  return {
    name: CONSUMER,
    version,
    description: 'Receive the CloudEvents of scheduled-events-bridge, and approve Azure Scheduled Events',
    keywords: packageJson.keywords,
    ...PROJECT,
    ...{ type: 'module', sideEffects: false, engines: { node: '>=22' } },
    // `main` and `types` are for moduleResolution node10, which does not read `exports`.
    ...{ main: './index.js', types: './types/consumer.d.ts' },
    exports: { '.': { types: './types/consumer.d.ts', default: './index.js' }, './package.json': './package.json' },
    files: ['index.js', 'types', 'examples', 'CHANGELOG.md'],
  };
}

/**
 * Copies a declaration and all that it imports. Names in them end in `.js`, as a package's do, and not in `.ts`, which
 * the source has.
 */
async function copyTypes(from: string, path: string, to: string, copied = new Set<string>()): Promise<void> {
  if (copied.has(path)) return;
  copied.add(path);
  const text = await readFile(join(from, path), 'utf8');
  await mkdir(dirname(join(to, path)), { recursive: true });
  await writeFile(join(to, path), text.replaceAll(/\b(from|import\() ?'(\.[^']+)\.ts'/g, "$1 '$2.js'"));
  for (const [, target = ''] of text.matchAll(/'(\.[^']+)\.ts'/g))
    await copyTypes(from, normalizePath(join(dirname(path), `${target}.d.ts`)), to, copied);
}

/** Gives the pages of a package links that lead out of it: on npm's site a relative one leads nowhere. */
async function linkOutside(folder: string, source: string): Promise<void> {
  for await (const page of glob('**/*.md', { cwd: folder })) {
    const text = await readFile(join(folder, page), 'utf8');
    await writeFile(join(folder, page), withAbsoluteLinks(text, { page, folder, source }));
  }
}

async function writeManifest(folder: string, manifest: object): Promise<void> {
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** npm leaves the `+` and what follows out of the file's name. */
async function pack(folder: string, out: string, name: string): Promise<string> {
  const packed = await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', out], { cwd: folder });
  const path = join(out, name);
  if (packed.trim() !== name) await run('mv', [join(out, packed.trim()), path]);
  return path;
}
