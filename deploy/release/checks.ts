// The files of a release → an error for the first one that is not fit to be published.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../packages/run.ts';

/** A check of the release's files. */
export interface Check {
  readonly name: string;
  /** @throws Error with what is wrong; @returns why it was not run, or null */
  readonly run: () => Promise<string | null>;
}

interface Built {
  /** The root of the checkout; dist/ is built. */
  readonly root: string;
  readonly version: string;
  readonly out: string;
}

/** Returns the checks of a built release, in their order. */
export function checksOf(built: Built): readonly Check[] {
  return [
    { name: 'checksums', run: () => checksums(built) },
    { name: 'lintian: the .deb files', run: () => lintian(built) },
    { name: 'publint: both npm packages', run: () => publint(built) },
    { name: 'helm lint: the chart', run: () => chart(built) },
    { name: 'the bill of materials, and a notice for each part of it', run: () => billOfMaterials(built) },
  ];
}

async function checksums({ out }: Built): Promise<null> {
  await run('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: out });
  return null;
}

async function lintian(built: Built): Promise<null> {
  const packages = await filesOf(built, '.deb');
  await run('lintian', ['--allow-root', '--fail-on', 'error,warning', ...packages]);
  return null;
}

async function publint(built: Built): Promise<null> {
  const command = join(built.root, 'node_modules/.bin/publint');
  for (const path of await filesOf(built, '.tgz')) await run(command, ['run', path, '--strict']);
  return null;
}

async function chart({ root }: Built): Promise<string | null> {
  const isThere = await run('helm', ['version']).catch(() => null);
  if (isThere === null) return 'helm is not installed';
  await run('helm', ['lint', '--strict', join(root, 'deploy/helm/scheduled-events-bridge')]);
  return null;
}

interface Bom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly version: string } };
  readonly components: readonly { readonly type: string; readonly name: string; readonly version: string }[];
}

/** Node, whose licence is a file of its own, and the system of the image are no libraries of the bundle. */
async function billOfMaterials({ root, version, out }: Built): Promise<null> {
  const bom = JSON.parse(await readFile(join(out, 'sbom.cdx.json'), 'utf8')) as Bom;
  if (bom.bomFormat !== 'CycloneDX' || bom.metadata.component.version !== version)
    throw new Error(`sbom.cdx.json is not a CycloneDX document of version ${version}`);
  const notices = await readFile(join(root, 'dist/THIRD-PARTY-NOTICES'), 'utf8');
  const missing = bom.components
    .filter(({ type }) => type === 'library')
    .filter((library) => !notices.includes(`\n${library.name} ${library.version} (`));
  if (missing.length > 0)
    throw new Error(`THIRD-PARTY-NOTICES has no notice of ${missing.map(({ name }) => name).join(', ')}`);
  return null;
}

async function filesOf({ out }: Built, ending: string): Promise<readonly string[]> {
  const names = (await readdir(out)).filter((name) => name.endsWith(ending));
  if (names.length === 0) throw new Error(`there is no ${ending} in ${out}`);
  return names.sort().map((name) => join(out, name));
}
