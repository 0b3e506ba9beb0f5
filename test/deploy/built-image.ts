// dist/ as it is built → the container image as an OCI archive, gone with the process.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeImages } from '../../deploy/container/image.ts';
import { imageTag } from '../../deploy/container/layout.ts';
import { ARCHITECTURES } from '../../deploy/packages/architectures.ts';
import { freshConfig } from '../../deploy/packages/fresh-config.ts';
import { makeProgramFolder } from '../../deploy/packages/program-folder.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { BUILD_VERSION } from '../support/build-version.ts';

const ROOT = join(import.meta.dirname, '../..');
const { name } = packageJson;
const version = BUILD_VERSION;

export const IMAGE = `${name}:${imageTag(version)}`;

/** Why no image is made, for a test's `skip`: it takes Debian 12, strip and podman with runc, and root to run it. */
export const noContainer: string | false = process.env['REQUIRE_CONTAINER']
  ? false
  : 'containers run where REQUIRE_CONTAINER is set';

/** As `npm run package` makes it; with its path. */
export async function builtImage(at: Date): Promise<string> {
  const work = mkdtempSync(join(tmpdir(), 'image-'));
  process.once('exit', () => rmSync(work, { recursive: true, force: true }));
  writeFileSync(join(work, 'bridge.yaml'), await freshConfig(ROOT));
  const programs = ARCHITECTURES.map((architecture) => {
    const program = join(work, 'program', architecture);
    return { root: ROOT, version, architecture, program, work, out: work, at };
  });
  for (const parts of programs) await makeProgramFolder({ ...parts, folder: parts.program });
  await makeImages(programs);
  return join(work, `${name}-${version}-oci.tar`);
}
