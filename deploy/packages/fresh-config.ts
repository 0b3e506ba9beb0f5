// dist/, which knows its configuration's schema → the bridge.yaml of a fresh installation.
import { join } from 'node:path';
import { type FreshInstallation, referenceConfig } from './reference-config.ts';
import { run } from './run.ts';

/** `root`: of the checkout; dist/ is built. */
export async function freshConfig(root: string, fresh?: FreshInstallation): Promise<string> {
  return referenceConfig(JSON.parse(await run(process.execPath, [join(root, 'dist/main.js'), 'check', '--schema'])), fresh);
}
