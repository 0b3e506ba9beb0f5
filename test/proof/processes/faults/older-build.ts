// The commit of an earlier release → its build, which runs first, and is replaced by that of today.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { earlierReleases } from '../../../deploy/released-packages.ts';
import type { Fault } from '../fault.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const RELEASES = earlierReleases();
const run = promisify(execFile);
/** By folder: each release is built once in a run. */
const builds = new Map<string, Promise<string>>();

function withoutReleases(): string | false {
  const absent = RELEASES.filter(({ commit }) => commit === null).map(({ version }) => version);
  return absent.length > 0 && `this clone does not have the commits of ${absent.join(' and ')} (git fetch --unshallow)`;
}

/** Builds the code of a commit with the packages of today. Returns its command. */
async function built(commit: string, folder: string): Promise<string> {
  mkdirSync(folder);
  const archive = `${folder}.tar`;
  await run('git', ['archive', '-o', archive, commit], { cwd: ROOT });
  await run('tar', ['-xf', archive, '-C', folder]);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await run(process.execPath, ['build.ts'], { cwd: folder });
  return join(folder, 'dist/main.js');
}

/** What the older release did not deliver is delivered by the build of today. */
export const OLDER_BUILD: Fault = {
  name: 'older-build',
  kind: 'process',
  missing: withoutReleases,
  prepare: async (world, chance) => {
    const { version, commit } = chance.one(RELEASES);
    // A store that is there may be newer than that release: then the build of today replaces itself.
    if (existsSync(join(world.folder.store, 'outbox.db'))) return;
    const folder = join(dirname(world.root), version);
    const build = builds.get(folder) ?? built(commit ?? version, folder);
    builds.set(folder, build);
    world.bridge.options = { ...world.bridge.options, main: await build };
  },
  begin: async ({ bridge }) => {
    await bridge.running(true);
    const { main: _, ...options } = bridge.options;
    bridge.options = options;
    await bridge.restart();
  },
  hasBitten: ({ bridge }) => bridge.options.main === undefined && bridge.gone.some(({ how }) => how === 'stopped'),
};
