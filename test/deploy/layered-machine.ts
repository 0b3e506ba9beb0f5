// This machine's files under a layer that takes what is written → a script on them; nothing stays.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command } from './command.ts';

/**
 * Runs a shell script as root of a machine that is like this one, without a running systemd; with what it printed.
 * Nothing of it stays.
 */
export function onLayeredMachine(script: string): string {
  const layer = mkdtempSync(join(tmpdir(), 'layered-'));
  const mount = `mount -t tmpfs none ${layer} && mkdir ${layer}/upper ${layer}/work ${layer}/root && \
mount -t overlay -o lowerdir=/,upperdir=${layer}/upper,workdir=${layer}/work none ${layer}/root && \
mount --rbind /dev ${layer}/root/dev && mount -t proc proc ${layer}/root/proc && rm -rf ${layer}/root/run/systemd/system`;
  try {
    return command('unshare', ['--mount', 'sh', '-ec', `${mount} && exec chroot ${layer}/root sh -ec "$0"`, script]);
  } finally {
    rmSync(layer, { recursive: true });
  }
}
