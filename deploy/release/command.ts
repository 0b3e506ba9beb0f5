// The command line of `npm run release` → the release, or with --check its edits alone.
import { access, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { run } from '../packages/run.ts';
import { sign } from '../packages/signature.ts';
import { checksOf } from './checks.ts';
import { plannedEdits, type ReleaseParts, release } from './release.ts';

const ROOT = join(import.meta.dirname, '../..');
const USAGE = 'npm run release -- X.Y.Z [--check] [--key FILE]';

const work = await mkdtemp(join(tmpdir(), 'release-'));
try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { check: { type: 'boolean' }, key: { type: 'string' } },
  });
  const [version, ...others] = positionals;
  if (version === undefined || others.length > 0) throw new Error(`usage: ${USAGE}`);
  const parts = partsOf(version, values.key);
  await needs(values.key);
  if (values.check) {
    const edits = await plannedEdits(parts);
    report(`${version} can be released. It changes:\n${[...edits.keys()].map((path) => `  ${path}`).join('\n')}`);
  } else {
    await release(parts);
    report(rest(version, values.key !== undefined));
  }
} catch (error) {
  process.stderr.write(`not released: ${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  await rm(work, { recursive: true, force: true });
}

function partsOf(version: string, key: string | undefined): ReleaseParts {
  const name = `${packageJson.name} ${version}`;
  return {
    ...{ root: ROOT, version, day: new Date().toISOString().slice(0, 10), report },
    buildElsewhere,
    buildHere,
    checks: (out) => checksOf({ root: ROOT, version, out }),
    sign: key === undefined ? null : (out) => sign(out, key, name),
  };
}

/** What the last steps need is looked for before the first one. @throws Error with what is missing */
async function needs(key: string | undefined): Promise<void> {
  for (const command of ['git', 'lintian', 'sha256sum', 'go', ...(key === undefined ? [] : ['minisign'])])
    await run('sh', ['-c', `command -v ${command}`]).catch(() => {
      throw new Error(`${command} is not installed`);
    });
  if (key !== undefined)
    await access(key).catch(() => {
      throw new Error(`the key ${key} cannot be read`);
    });
}

/** In a new clone, with packages as the lock has them; downloads of earlier builds are used again. */
async function buildElsewhere(): Promise<string> {
  const [checkout, out] = [join(work, 'checkout'), join(work, 'out')];
  await run('git', ['clone', '--quiet', '--no-hardlinks', ROOT, checkout]);
  await run('sh', ['-c', 'umask 077 && npm ci --silent --no-audit --no-fund'], { cwd: checkout });
  const cache = 'node_modules/.cache';
  await cp(join(ROOT, cache), join(checkout, cache), { recursive: true }).catch(() => null);
  await run('sh', ['-c', 'umask 077 && npm run --silent package -- --out "$0"', out], { cwd: checkout });
  return out;
}

async function buildHere(): Promise<string> {
  await run('sh', ['-c', 'umask 022 && npm run --silent package'], { cwd: ROOT });
  return join(ROOT, 'dist/packages');
}

function report(line: string): void {
  process.stdout.write(`${line}\n`);
}

function rest(version: string, isSigned: boolean): string {
  return `
What is left to you (docs/develop/releasing.md):
  git push origin HEAD v${version}
  npm publish dist/packages/${packageJson.name}-${version}.tgz
  npm publish dist/packages/${packageJson.name}-consumer-${version}.tgz
  skopeo copy --all oci-archive:dist/packages/${packageJson.name}-${version}-oci.tar docker://REGISTRY/${packageJson.name}:${version}
  copy dist/packages/ to the place that users download from${isSigned ? '' : '; it is unsigned'}
To go back instead, before a push: git tag --delete v${version} && git reset --hard HEAD~1`;
}
