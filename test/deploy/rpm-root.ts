// This machine's files under a layer that takes what is written → rpm on them, gone with the test.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command } from './command.ts';

/** Runs a shell script as root of a machine on which no rpm was ever installed; with what it printed. Nothing of it stays. */
export function onRpmMachine(script: string): string {
  const layer = mkdtempSync(join(tmpdir(), 'rpm-'));
  const mount = `mount -t tmpfs none ${layer} && mkdir ${layer}/upper ${layer}/work ${layer}/root && \
mount -t overlay -o lowerdir=/,upperdir=${layer}/upper,workdir=${layer}/work none ${layer}/root`;
  try {
    return command('unshare', ['--mount', 'sh', '-ec', `${mount} && exec chroot ${layer}/root sh -ec "$0"`, script]);
  } finally {
    rmSync(layer, { recursive: true });
  }
}
