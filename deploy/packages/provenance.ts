// The files of a build and its checkout → an in-toto statement with SLSA provenance.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { run } from './run.ts';

interface Build {
  /** The root of the checkout. */
  readonly root: string;
  readonly version: string;
  /** The folder with the files. */
  readonly out: string;
}

/** A ResourceDescriptor of in-toto. */
interface Resource {
  readonly name?: string;
  readonly uri?: string;
  readonly digest?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, boolean>>;
}

/**
 * Returns an in-toto Statement (v1) with a provenance predicate of SLSA (v1.1), as JSON. It has no time and no name of a
 * machine, so that two builds of a commit are equal.
 */
export async function provenance({ root, version, out }: Build): Promise<string> {
  const { homepage, repository, devDependencies } = packageJson;
  const lock = {
    name: 'package-lock.json',
    digest: { sha256: sha256(await readFile(join(root, 'package-lock.json'))) },
  };
  const node = { uri: `pkg:npm/node@${devDependencies.node}` };
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: await digests(out),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${homepage}/blob/main/docs/develop/releasing.md#provenance`,
        externalParameters: { repository: repository.url, version, command: 'npm ci && npm run package' },
        resolvedDependencies: [...(await source(root, repository.url)), lock, node],
      },
      runDetails: { builder: { id: `${homepage}/blob/main/docs/develop/releasing.md#who-builds` } },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}

/** Returns the name and the SHA-256 of each file of the folder, by name. */
export async function digests(folder: string): Promise<readonly { name: string; digest: { sha256: string } }[]> {
  const names = (await readdir(folder)).sort();
  return await Promise.all(
    names.map(async (name) => ({ name, digest: { sha256: sha256(await readFile(join(folder, name))) } })),
  );
}

/** Returns the commit, and whether the checkout differs from it; nothing without git. */
async function source(root: string, url: string): Promise<readonly Resource[]> {
  try {
    const commit = (await run('git', ['rev-parse', 'HEAD'], { cwd: root })).trim();
    const modified = (await run('git', ['status', '--porcelain'], { cwd: root })) !== '';
    return [{ uri: `${url}@${commit}`, digest: { gitCommit: commit }, ...(modified && { annotations: { modified } }) }];
  } catch {
    return [];
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
