// dist/ as it is built → the container image as an OCI archive, gone with the process.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeImage } from '../../deploy/container/image.ts';
import { freshConfig } from '../../deploy/packages/fresh-config.ts';
import { makeProgramFolder } from '../../deploy/packages/program-folder.ts';
import packageJson from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '../..');
const { name, version } = packageJson;

export const IMAGE = `${name}:${version}`;

/** Why no image is made, for a test's `skip`: it takes Debian 12, strip and podman with runc, and root to run it. */
export const noContainer: string | false = process.env['REQUIRE_CONTAINER']
  ? false
  : 'containers run where REQUIRE_CONTAINER is set';

/** As `npm run package` makes it; with its path. */
export async function builtImage(at: Date): Promise<string> {
  const work = mkdtempSync(join(tmpdir(), 'image-'));
  process.once('exit', () => rmSync(work, { recursive: true, force: true }));
  const program = join(work, 'program');
  writeFileSync(join(work, 'bridge.yaml'), await freshConfig(ROOT));
  await makeProgramFolder({ root: ROOT, folder: program, at });
  await makeImage({ root: ROOT, version, program, work, out: work, at });
  return join(work, `${name}-${version}-oci.tar`);
}
