// The commit of a release → its .deb for x64, by its own recipe, kept in node_modules/.cache.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { releaseSubject } from '../../version.ts';
import { command } from './command.ts';

const ROOT = join(import.meta.dirname, '../..');
const CACHE = join(ROOT, 'node_modules/.cache/releases');
/** 0.1.0 was released before `npm run release` wrote a commit for each release. */
const FIRST = { version: '0.1.0', commit: '7363a87f7f69ea85e26663c1767f06a732b51553' };

/** A release that is older than this checkout. */
export interface EarlierRelease {
  readonly version: string;
  /** Null if this clone does not have it. */
  readonly commit: string | null;
}

/** Returns the releases of CHANGELOG.md, oldest first, without the one that this checkout is. */
export function earlierReleases(): readonly EarlierRelease[] {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const versions = [...changelog.matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm)].map(([, version = '']) => version);
  const subject = git('log', '-1', '--format=%s');
  return [...new Set([...versions, FIRST.version])]
    .filter((version) => subject !== releaseSubject(version))
    .map((version) => ({ version, commit: commitOf(version) }))
    .reverse();
}

/** Returns the folder with the release's .deb. The first call for a release takes minutes. */
export function releasedPackage({ version, commit }: EarlierRelease): string {
  if (commit === null) throw new Error(`this clone does not have the commit of ${version}`);
  const kept = join(CACHE, commit);
  if (existsSync(kept)) return kept;
  const work = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    const [checkout, out] = [join(work, 'checkout'), join(work, 'out')];
    for (const folder of [checkout, `${kept}.new`]) mkdirSync(folder, { recursive: true });
    command('sh', ['-ec', `git -C '${ROOT}' archive ${commit} | tar -x -C '${checkout}'`]);
    const env = { ...inherited(), SOURCE_DATE_EPOCH: git('log', '-1', '--format=%ct', commit) ?? '' };
    command('npm', ['ci', '--silent', '--no-audit', '--no-fund'], checkout, env);
    command('npm', ['run', '--silent', 'package', '--', '--without-windows', '--out', out], checkout, env);
    const name = readdirSync(out).find((each) => each.endsWith('_amd64.deb')) ?? '';
    copyFileSync(join(out, name), join(`${kept}.new`, name));
    renameSync(`${kept}.new`, kept);
    return kept;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function commitOf(version: string): string | null {
  if (version === FIRST.version) return git('rev-parse', '--verify', '--quiet', `${FIRST.commit}^{commit}`);
  const subject = releaseSubject(version).replaceAll('.', '[.]');
  return git('log', '-1', '--format=%H', `--grep=^${subject}$`);
}

/** Returns this environment without what the release's own Node must not get: the commands of this checkout, a test's settings. */
function inherited(): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => !/^NODE_(OPTIONS|PATH|TEST_CONTEXT)$/.test(name));
  const path = (process.env['PATH'] ?? '')
    .split(':')
    .filter((folder) => !folder.startsWith(join(ROOT, 'node_modules')));
  return { ...Object.fromEntries(kept.map(([name, value = '']) => [name, value])), PATH: path.join(':') };
}

function git(...args: readonly string[]): string | null {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 && stdout.trim() !== '' ? stdout.trim() : null;
}
