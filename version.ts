// The last release and the commit → the version that a build carries.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import packageJson from './package.json' with { type: 'json' };

/** The subject of the commit that releases a version, as `npm run release` writes it. */
export function releaseSubject(version: string): string {
  return `release: ${version}`;
}

/**
 * Returns the version in package.json, which is that of the last release, if this checkout is that release or has no
 * history. Else the next minor version with the commit, such as `0.2.0-dev+7363a87` after 0.1.0.
 */
export async function buildVersion(root: string, released: string = packageJson.version): Promise<string> {
  const git = async (...args: readonly string[]) =>
    (await promisify(execFile)('git', args, { cwd: root })).stdout.trim();
  try {
    // A folder inside another project's repository has that project's history.
    if ((await git('rev-parse', '--show-prefix')) !== '') return released;
    const [commit, subject] = (await git('log', '-1', '--abbrev=7', '--format=%h%n%s')).split('\n');
    return subject === releaseSubject(released) ? released : `${nextMinor(released)}-dev+${commit}`;
  } catch {
    return released;
  }
}

/** Returns a version as Debian and RPM compare it: `~` sorts before the release. */
export function packageVersion(version: string): string {
  return version.replace('-', '~');
}

function nextMinor(version: string): string {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return `${major}.${minor + 1}.0`;
}
