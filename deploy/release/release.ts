// A clean checkout and a version → the release's commit, its checked files, and its tag.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { releaseSubject } from '../../version.ts';
import { digests } from '../packages/provenance.ts';
import { run } from '../packages/run.ts';
import { releasedChangelog, releasedLibraryChangelog } from './changelog.ts';
import type { Check } from './checks.ts';
import { mayNameVersion, namedVersions, withVersion } from './version-places.ts';

export interface ReleaseParts {
  /** The root of the checkout. */
  readonly root: string;
  readonly version: string;
  /** The day of the release, such as 2026-11-24. */
  readonly day: string;
  /** Builds everything in another folder and under another umask; returns the folder with the files. */
  readonly buildElsewhere: () => Promise<string>;
  /** Builds everything in the checkout; returns the folder with the files. */
  readonly buildHere: () => Promise<string>;
  readonly checks: (out: string) => readonly Check[];
  /** Signs SHA256SUMS in the folder; null if no key is given. */
  readonly sign: ((out: string) => Promise<void>) | null;
  /** Receives each line of the progress. */
  readonly report: (line: string) => void;
}

/** The files that a release changes, by path from the root. */
export type Edits = ReadonlyMap<string, string>;

/**
 * Makes the release's edits, commits them, builds, checks and signs, and makes the annotated tag.
 *
 * @throws Error if a step fails. Before the commit, nothing is changed; after it, the message says how to go back
 */
export async function release(parts: ReleaseParts): Promise<void> {
  const { root, version, report } = parts;
  const edits = await plannedEdits(parts);
  const git = gitIn(root);
  const before = await git('rev-parse', 'HEAD');
  try {
    for (const [path, text] of edits) await writeFile(join(root, path), text);
    await git('commit', '--quiet', '--message', releaseSubject(version), '--', ...edits.keys());
  } catch (error) {
    await git('checkout', '--quiet', before, '--', ...edits.keys());
    throw error;
  }
  report(`committed: ${releaseSubject(version)}`);
  try {
    await finish(parts);
  } catch (error) {
    const way = `git reset --hard ${before}`;
    throw new Error(`${(error as Error).message}\nThe commit exists, the tag does not. To go back: ${way}`, {
      cause: error,
    });
  }
}

/** Builds, compares, checks, signs, tags. */
async function finish({ root, version, report, ...parts }: ReleaseParts): Promise<void> {
  report('building in a new clone, with a private umask');
  const elsewhere = await parts.buildElsewhere();
  report('building here');
  const out = await parts.buildHere();
  await compare(elsewhere, out);
  report('both builds are equal');
  for (const check of parts.checks(out)) {
    const unrun = await check.run();
    report(unrun === null ? `checked: ${check.name}` : `not checked: ${check.name}: ${unrun}`);
  }
  if (parts.sign) await parts.sign(out);
  report(parts.sign ? 'signed: SHA256SUMS' : 'unsigned: without --key FILE, SHA256SUMS has no signature');
  const sums = (await digests(out)).find(({ name }) => name === 'SHA256SUMS');
  const message = `${packageJson.name} ${version}\n\nSHA-256 of SHA256SUMS: ${sums?.digest.sha256 ?? 'none'}`;
  await gitIn(root)('tag', '--annotate', `v${version}`, '--message', message);
  report(`tagged: v${version}; the files are in ${out}`);
}

/**
 * Returns the release's edits, and changes nothing.
 *
 * @throws Error if the tree is not clean, the version is not newer or has a tag, or the changelog says nothing
 */
export async function plannedEdits({
  root,
  version,
  day,
}: Pick<ReleaseParts, 'root' | 'version' | 'day'>): Promise<Edits> {
  const git = gitIn(root);
  const read = (path: string) => readFile(join(root, path), 'utf8');
  const { version: last } = JSON.parse(await read('package.json')) as { version: string };
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`${version} is not a version such as 1.2.3`);
  if (!isNewer(version, last)) throw new Error(`${version} is not newer than ${last}, the last release`);
  if ((await git('tag', '--list', `v${version}`)) !== '') throw new Error(`the tag v${version} exists`);
  const changes = await git('status', '--porcelain');
  if (changes !== '') throw new Error(`the tree is not clean: commit or remove these first\n${changes}`);
  const edits = new Map([
    ['CHANGELOG.md', releasedChangelog(await read('CHANGELOG.md'), { version, day })],
    [
      'deploy/consumer/CHANGELOG.md',
      releasedLibraryChangelog(await read('deploy/consumer/CHANGELOG.md'), { version, day }),
    ],
  ]);
  for (const path of (await git('ls-files', '-z')).split('\0').filter(mayNameVersion)) {
    const text = await read(path);
    if (namedVersions(path, text).length > 0) edits.set(path, withVersion(path, text, version));
  }
  return edits;
}

function isNewer(version: string, last: string): boolean {
  return version.localeCompare(last, 'en', { numeric: true }) > 0;
}

/** @throws Error with the names of the files that differ, or that one build alone has */
async function compare(one: string, other: string): Promise<void> {
  const [first, second] = await Promise.all([one, other].map(linesOf));
  const differing = [...(first ?? []), ...(second ?? [])].filter(
    (line, _, all) => all.indexOf(line) === all.lastIndexOf(line),
  );
  const names = new Set(differing.map((line) => line.split(' ')[0]));
  if (names.size > 0) throw new Error(`two builds of the same commit differ in ${[...names].sort().join(', ')}`);
}

async function linesOf(folder: string): Promise<readonly string[]> {
  return (await digests(folder)).map(({ name, digest }) => `${name} ${digest.sha256}`);
}

function gitIn(root: string) {
  return async (...args: readonly string[]) => (await run('git', args, { cwd: root })).trimEnd();
}
