// dist/, for the schema of the configuration → the bridge.yaml of a fresh installation.
import { join } from 'node:path';
import { type FreshInstallation, referenceConfig } from './reference-config.ts';
import { run } from './run.ts';

/** @param root the root of the checkout; dist/ must be built */
export async function freshConfig(root: string, fresh?: FreshInstallation): Promise<string> {
  return referenceConfig(
    JSON.parse(await run(process.execPath, [join(root, 'dist/main.js'), 'check', '--schema'])),
    fresh,
  );
}
