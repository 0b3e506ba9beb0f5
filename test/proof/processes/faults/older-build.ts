// A tag of an earlier release → its build, which runs first, and is replaced by that of today.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Fault } from '../fault.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const TAGS = ['v0.1.0', 'v0.2.0'];
const run = promisify(execFile);
/** By folder: each release is built once in a run. */
const builds = new Map<string, Promise<string>>();

function withoutTags(): string | false {
  try {
    for (const tag of TAGS) execFileSync('git', ['rev-parse', '-q', '--verify', `${tag}^{commit}`], { cwd: ROOT });
    return false;
  } catch {
    return `the tags ${TAGS.join(' and ')} are missing (git fetch --tags)`;
  }
}

/** Builds the code of a tag with the packages of today. Returns its command. */
async function built(tag: string, folder: string): Promise<string> {
  mkdirSync(folder);
  const archive = `${folder}.tar`;
  await run('git', ['archive', '-o', archive, tag], { cwd: ROOT });
  await run('tar', ['-xf', archive, '-C', folder]);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await run(process.execPath, ['build.ts'], { cwd: folder });
  return join(folder, 'dist/main.js');
}

/** What the older release did not deliver is delivered by the build of today. */
export const OLDER_BUILD: Fault = {
  name: 'older-build',
  kind: 'process',
  missing: withoutTags,
  prepare: async (world, chance) => {
    const tag = chance.one(TAGS);
    // A store that is there may be newer than that release: then the build of today replaces itself.
    if (existsSync(join(world.folder.store, 'outbox.db'))) return;
    const folder = join(dirname(world.root), tag);
    const build = builds.get(folder) ?? built(tag, folder);
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
