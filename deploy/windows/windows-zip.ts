// The program's folder → the .zip for Windows x64: with node.exe, the service program and scripts.
import { copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { copyPinnedNode } from '../packages/pinned-node.ts';
import { zipOf } from '../packages/zip-file.ts';
import { makeServiceProgram, withGoParts } from './service-program.ts';

/** Files with CRLF: Windows PowerShell, cmd.exe and some editors require it. */
const SCRIPTS = ['install.ps1', 'uninstall.ps1', 'scheduled-events-bridge.cmd'] as const;
/** The files of the Linux folder that the .zip takes. */
const SHARED = ['LICENSE', 'NODE-LICENSE', 'package.json'] as const;

interface WindowsZipParts {
  readonly root: string;
  readonly version: string;
  /** The folder from `makeProgramFolder`. */
  readonly program: string;
  /** The bridge.yaml of a fresh installation. */
  readonly config: string;
  /** A temporary folder. */
  readonly work: string;
  readonly out: string;
  readonly at: Date;
}

export async function makeWindowsZip({
  root,
  version,
  program,
  config,
  work,
  out,
  at,
}: WindowsZipParts): Promise<void> {
  const name = `${packageJson.name}-${version}-windows-x64`;
  const folder = join(work, 'windows', name);
  await mkdir(folder, { recursive: true });
  await cp(join(program, 'dist'), join(folder, 'dist'), { recursive: true });
  for (const file of SHARED) await copyFile(join(program, file), join(folder, file));
  for (const file of SCRIPTS)
    await writeFile(join(folder, file), withCrLf(await readFile(join(root, 'deploy/windows', file), 'utf8')));
  await writeFile(join(folder, 'bridge.yaml'), withCrLf(config));
  await copyPinnedNode(root, 'win-x64', join(folder, 'node.exe'));
  const parts = await makeServiceProgram(root, folder);
  await writeFile(
    join(folder, 'sbom.cdx.json'),
    withGoParts(await readFile(join(program, 'sbom.cdx.json'), 'utf8'), parts),
  );
  await writeFile(join(out, `${name}.zip`), await zipOf(join(work, 'windows'), at));
}

function withCrLf(text: string): string {
  return text.replaceAll(/\r?\n/g, '\r\n');
}
