// src/main.ts, src/simulator.ts, src/consumer.ts → dist/: ESM bundle, types, files, notices, SBOM.
// The bundle is in chunks, so that what a verb or sink does not use is not read at start. Pages, their shared parts,
// the simulator's scenarios and the webhook's templates are copied as they are; the types are those of the two
// libraries, which others import.
import { execFile } from 'node:child_process';
import { chmod, cp, glob, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { sbom } from './sbom.ts';
import { bundledPackages, thirdPartyNotices } from './third-party-notices.ts';
import { buildVersion } from './version.ts';

const TYPES = 'dist/types';
const COMMAND = 'dist/main.js';
/** What other projects import. */
const LIBRARIES = ['simulator', 'consumer'];
const SOURCES = ['src/**', 'adapters/**', 'docs/schemas/*', '*.ts', 'package*.json', 'tsconfig*.json'];

if (!process.argv.includes('--if-stale') || (await isStale())) {
  await rm('dist', { recursive: true, force: true });
  await Promise.all([bundle(), emitTypes(), copyData()]);
  await chmod(COMMAND, 0o755);
}

/**
 * For npm's hooks: `dependencies` after `npm ci` in a checkout, `prepack`; perhaps beside a process that reads dist/.
 */
async function isStale(): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(COMMAND);
    for await (const path of glob(SOURCES)) if ((await stat(path)).mtimeMs > mtimeMs) return true;
    return false;
  } catch {
    return true;
  }
}

async function bundle(): Promise<void> {
  const version = await buildVersion('.');
  const { metafile } = await build({
    plugins: [versioned(version)],
    entryPoints: ['src/main.ts', ...LIBRARIES.map((name) => `src/${name}.ts`)],
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minifySyntax: true,
    // Under Node both resolve to CommonJS, of which nothing can be left out: rxjs has 270 KB instead of 55, the Service
    // Bus SDK 1250 instead of 580.
    alias: {
      rxjs: './node_modules/rxjs/dist/esm/index.js',
      '@azure/service-bus': './node_modules/@azure/service-bus/dist-esm/src/index.js',
    },
    // For tests and debuggers in a checkout; packages leave them out, so no comment leads to them.
    sourcemap: 'external',
    logLevel: 'warning',
    metafile: true,
    // CommonJS packages inside the bundle ask for Node's own modules by require.
    banner: {
      js: "import { createRequire as bundledRequire } from 'node:module'; const require = bundledRequire(import.meta.url);",
    },
  });
  const packages = await bundledPackages(metafile);
  await writeFile('dist/THIRD-PARTY-NOTICES', thirdPartyNotices(packages));
  await writeFile('dist/sbom.cdx.json', sbom(packages, version));
}

/** Puts the version of the build in the place of that of the last release. */
function versioned(version: string): Plugin {
  const path = resolve('package.json');
  return {
    name: 'version',
    setup: (parts) =>
      parts.onLoad({ filter: /[/\\]package\.json$/ }, async (file) =>
        file.path === path
          ? { contents: JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), version }), loader: 'json' }
          : null,
      ),
  };
}

/**
 * Chunks lie flat in dist/, so that './parts/', './scenarios/', './page/' and the like are beside the code in dist/ as
 * in their folders.
 */
async function copyData(): Promise<void> {
  const folders = {
    parts: 'src/page',
    console: 'src/http',
    scenarios: 'src/simulator',
    page: 'src/simulator',
    templates: 'adapters/webhook/template',
  };
  await Promise.all(
    Object.entries(folders).map(([name, parent]) => cp(`${parent}/${name}`, `dist/${name}`, { recursive: true })),
  );
}

/** Without checks, which are the business of `npm run types`: 0.2 s. */
async function emitTypes(): Promise<void> {
  await promisify(execFile)(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.types.json']);
  const needed = new Set<string>();
  for (const name of LIBRARIES) await reachableFrom(join(TYPES, `${name}.d.ts`), needed);
  for await (const path of glob(`${TYPES}/**/*.d.ts`)) if (!needed.has(path)) await rm(path);
}

/**
 * Adds to `found` the declarations that a user of this one reads: tsc also writes those of everything that the code
 * imports.
 */
async function reachableFrom(path: string, found: Set<string>): Promise<void> {
  if (found.has(path)) return;
  found.add(path);
  const text = await readFile(path, 'utf8');
  for (const [, target = ''] of text.matchAll(/\bfrom '(\.[^']+)\.ts'/g))
    await reachableFrom(join(dirname(path), `${target}.d.ts`), found);
}
