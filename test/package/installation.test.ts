// The package, installed by npm into an empty folder → it alone is there, and all of it runs.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import test from 'node:test';
import { build } from 'esbuild';
import { bundledPackages } from '../../third-party-notices.ts';
import { BUILD_VERSION } from '../support/build-version.ts';
import { folderOf } from '../support/folder.ts';
import { Project, ROOT, tarball } from './installed-package.ts';

const DIST = join(ROOT, 'dist');
/** The packages debug, which the Service Bus SDK brings, and ws try for them, and go on where they are not there. */
const OPTIONAL = ['supports-color', 'bufferutil', 'utf-8-validate'];
const chunks = readdirSync(DIST).filter((name) => name.endsWith('.js'));

test('npm install brings this package and no other, no install script, and both libraries and the command run from it', async (t) => {
  const project = Project.empty(t);
  const args = ['install', '--offline', '--no-audit', '--no-fund', '--no-update-notifier', tarball];
  const { code, stdout, stderr } = await project.run('npm', args);
  assert.equal(code, 0, stdout + stderr);
  const installed = readdirSync(join(project.folder, 'node_modules')).filter((name) => !name.startsWith('.'));
  assert.deepEqual(installed, ['scheduled-events-bridge']);
  const { scripts, ...about } = JSON.parse(
    readFileSync(join(project.folder, 'node_modules', installed[0] as string, 'package.json'), 'utf8'),
  );
  for (const hook of ['preinstall', 'install', 'postinstall', 'prepare']) assert.equal(scripts[hook], undefined, hook);
  assert.deepEqual(
    [about.dependencies, about.optionalDependencies, about.peerDependencies],
    [undefined, undefined, undefined],
  );
  project.write(
    'use.js',
    `import { createReceiver } from 'scheduled-events-bridge/consumer';
     import { startSimulator } from 'scheduled-events-bridge/simulator';
     await using azure = await startSimulator();
     console.log(typeof createReceiver({ unsigned: true, handlers: {} }), azure.events().length);`,
  );
  assert.deepEqual(await project.node('use.js'), { code: 0, signal: null, stdout: 'function 0\n', stderr: '' });
  assert.equal(
    (await project.run('node_modules/.bin/scheduled-events-bridge', ['--version'])).stdout,
    `${BUILD_VERSION}\n`,
  );
});

test('no chunk imports a package', async () => {
  const { metafile } = await build({
    ...{
      entryPoints: chunks.map((name) => join(DIST, name)),
      outdir: 'nowhere',
      write: false,
      metafile: true,
      logLevel: 'error',
    },
    ...{ bundle: true, splitting: true, packages: 'external', format: 'esm', platform: 'node' },
  });
  const outside = Object.values(metafile.inputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external).map(({ path }) => path),
  );
  // Those of CommonJS packages, which esbuild does not see behind the bundle's own require.
  const required = chunks.flatMap((name) => [
    ...readFileSync(join(DIST, name), 'utf8').matchAll(/require\d*\(\s*["'`]([^"'`]+)["'`]\s*\)/g),
  ]);
  assert.ok(required.length > 0);
  const all = [...outside, ...required.map(([, path = '']) => path)];
  assert.deepEqual(
    all.filter((path) => !isBuiltin(path) && !OPTIONAL.includes(path)),
    [],
  );
});

test('no type that comes along is of another package', () => {
  const files = readdirSync(join(DIST, 'types'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  assert.ok(files.length > 0);
  const targets = files.flatMap((name) =>
    [
      ...readFileSync(join(DIST, 'types', name), 'utf8').matchAll(
        /(?:\bfrom |\bimport\(|\bimport |types=)["']([^"']+)["']/g,
      ),
    ].map(([, target]) => target),
  );
  assert.deepEqual(
    targets.filter((target) => !target?.startsWith('.')),
    [],
  );
});

/** By the comment that esbuild puts before each module: folders from the root. */
function foldersInBundle(): string[] {
  const texts = chunks.map((name) => readFileSync(join(DIST, name), 'utf8'));
  const modules = texts.flatMap((text) =>
    [...text.matchAll(/^ *\/\/ (node_modules\/.*)/gm)].map(([, path = '']) => path),
  );
  return [...new Set(modules.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []))];
}

test('every package that is bundled stands in THIRD-PARTY-NOTICES with its version, its licence and the text of it', () => {
  const notices = readFileSync(join(DIST, 'THIRD-PARTY-NOTICES'), 'utf8');
  const folders = foldersInBundle();
  for (const known of ['rxjs', 'kafkajs', '@azure/identity', 'prom-client', 'jose'])
    assert.ok(folders.includes(`node_modules/${known}`), known);
  const lacking = folders.filter((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    const file = readdirSync(join(ROOT, folder)).find((each) => /^(licen[cs]e|copying)/i.test(each)) as string;
    const text = readFileSync(join(ROOT, folder, file), 'utf8')
      .replaceAll('\r\n', '\n')
      .trim();
    const start = notices.indexOf(`\n${name} ${version} (${license})\n`);
    return start === -1 || !notices.slice(start).includes(text);
  });
  assert.deepEqual(lacking, []);
});

test('the bill of materials lists every package that is bundled, and no other', () => {
  const { bomFormat, specVersion, metadata, components } = JSON.parse(
    readFileSync(join(DIST, 'sbom.cdx.json'), 'utf8'),
  );
  assert.deepEqual(
    [bomFormat, specVersion, metadata.component.purl],
    ['CycloneDX', '1.6', `pkg:npm/scheduled-events-bridge@${BUILD_VERSION}`],
  );
  const bundled = foldersInBundle().map((folder) =>
    JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')),
  );
  assert.deepEqual(
    components.map(({ purl }: { purl: string }) => purl).sort(),
    bundled.map(({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`).sort(),
  );
});

/** What esbuild would say of a bundle with this package. */
function bundleWith(folder: string): Parameters<typeof bundledPackages>[0] {
  const input = { [join(folder, 'index.js')]: { bytesInOutput: 1 } };
  return { outputs: { 'a.js': { bytes: 1, inputs: input, imports: [], exports: [] } } };
}

for (const [what, files] of [
  [
    'ships no text of its licence',
    { 'package.json': '{"name":"bare","version":"1.2.3","license":"MIT"}', 'README.md': 'MIT' },
  ],
  [
    'ships a notice without a licence',
    { 'package.json': '{"name":"bare","version":"1.2.3","license":"MIT"}', NOTICE: 'by me' },
  ],
  ['names no licence', { 'package.json': '{"name":"bare","version":"1.2.3"}', LICENSE: 'text' }],
] as const) {
  test(`a build fails, and says why, if a bundled package ${what}`, async (t) => {
    const folder = join(folderOf(t), 'node_modules/bare');
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    await assert.rejects(bundledPackages(bundleWith(folder)), /bare 1\.2\.3 is bundled and .*licence/);
  });
}
