// What esbuild bundled → THIRD-PARTY-NOTICES: each package, its version, licence and notices.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

/** A package of which something is in the bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** As its package.json says, by SPDX. */
  readonly licence: string;
  /** What its licence wants to go along, in one text. */
  readonly notices: string;
}

const NOTICE_FILE = /^(licen[cs]e|copying|notice|third[-_]?party[-_]?notices?)([-.].*)?$/i;
const RULE = '-'.repeat(80);
const HEAD = `The files of this folder hold code of the packages below. Each is named with its version and licence (by SPDX), and with the notices that it
ships; where those of several are the same, they stand once.`;

/** By name. @throws where a package of the bundle has nothing that tells its licence */
export async function bundledPackages(metafile: Pick<Metafile, 'outputs'>): Promise<readonly BundledPackage[]> {
  return await Promise.all(bundledFolders(metafile).map(readPackage));
}

export function thirdPartyNotices(packages: readonly BundledPackage[]): string {
  const groups = Map.groupBy(packages, ({ notices }) => notices);
  const parts = [...groups].map(([notices, group]) => [group.map(titleOf).join('\n'), notices].join('\n\n'));
  return `${[HEAD, ...parts].join(`\n\n${RULE}\n\n`)}\n`;
}

/** Folders of packages: `node_modules/@azure/identity`, `node_modules/a/node_modules/b`. */
function bundledFolders({ outputs }: Pick<Metafile, 'outputs'>): readonly string[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.keys(output.inputs));
  return [...new Set(inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []))].sort();
}

/** @throws where its package.json names no licence, or no file beside it holds one */
async function readPackage(folder: string): Promise<BundledPackage> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const files = (await readdir(folder)).filter((file) => NOTICE_FILE.test(file)).sort();
  if (typeof license !== 'string' || !files.some((file) => /^(licen[cs]e|copying)/i.test(file)))
    throw new Error(
      `${name} ${version} is bundled and ships no text of its licence (${license}): bundle another version, or do without it`,
    );
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return {
    name,
    version,
    licence: license,
    notices: texts.map((text) => text.replaceAll('\r\n', '\n').trim()).join('\n\n'),
  };
}

function titleOf({ name, version, licence }: BundledPackage): string {
  return `${name} ${version} (${licence})`;
}
