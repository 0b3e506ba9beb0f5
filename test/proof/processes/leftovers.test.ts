// The command is killed in the middle of a world → no bridge, mount or folder of it is left.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { Program } from '../../support/program.ts';
import { dyingWithUs } from './leftovers.ts';

const PROOF = join(import.meta.dirname, '../proof.ts');
const skip = (process.getuid?.() !== 0 || dyingWithUs().length === 0) && 'needs root and setpriv of util-linux';

for (const signal of ['SIGINT', 'SIGKILL'] as const)
  test(`nothing is left of a stopped bridge and its disk after ${signal} to the command`, { skip }, async (t) => {
    const folder = folderOf(t);
    const args = ['--parts', 'processes', '--jobs', '1', '--only', 'stop+disk-full'];
    const command = new Program(args, { main: PROOF, env: { TMPDIR: folder } });
    t.after(() => command.end('SIGKILL'));
    const isStopped = () => bridgesOf(folder).some((pid) => stateOf(pid) === 'T');
    await poll(
      () => isStopped() && hasMount(folder),
      () => `a stopped bridge on a disk: ${command.stdout}`,
      60_000,
    );
    await command.end(signal);
    await poll(
      () => bridgesOf(folder).length === 0 && !hasMount(folder) && readdirSync(folder).length === 0,
      () => `nothing: bridges ${bridgesOf(folder).join()}, mounts ${hasMount(folder)}, ${readdirSync(folder).join()}`,
    );
    assert.deepEqual(readdirSync(folder), []);
  });

/** The pids of processes of `run` whose configuration is in this folder. */
function bridgesOf(folder: string): readonly string[] {
  const isBridge = (command: string) => command.includes(`${folder}/`) && command.includes('bridge.yaml');
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isBridge(textOf(`/proc/${name}/cmdline`)));
}

/** As in proc(5). An empty text if it has ended. */
function stateOf(pid: string): string {
  return /\) (\w) /.exec(textOf(`/proc/${pid}/stat`))?.[1] ?? '';
}

function hasMount(folder: string): boolean {
  return textOf('/proc/mounts').includes(` ${folder}/`);
}

/** Empty if the process has ended meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
