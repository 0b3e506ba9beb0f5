// A run → a folder and processes that go when the command ends, however it ends.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scope } from '../cost/scope.ts';

/**
 * Ends when the pipe from the command closes, also after signal 9. Then it removes mounts, the folder, and the memory
 * cgroups that carry the command's pid. Processes that die with the command may need a moment.
 */
const WATCH = `cat >/dev/null
for attempt in 1 2 3 4 5 6 7 8 9 10; do
  grep -F " $1/" /proc/mounts | cut -d ' ' -f 2 | while read -r at; do umount --lazy "$at"; done
  rm -rf "$1" && break
  sleep 0.5
done
find /sys/fs/cgroup -maxdepth 8 -type d -name "bridge-test-$2-*" -exec rmdir {} + 2>/dev/null`;

/** Returns an empty folder that goes with the scope, or with this process. */
export function folderOfRun(scope: Scope): string {
  const folder = mkdtempSync(join(tmpdir(), 'proof-processes-'));
  const arguments_ = ['-c', WATCH, 'sh', folder, String(process.pid)];
  // In a session of its own: Ctrl-C reaches the command alone.
  const watch = spawn('sh', arguments_, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  watch.unref();
  (watch.stdin as unknown as { unref(): void }).unref();
  scope.after(async () => {
    watch.ref();
    const gone = once(watch, 'exit');
    watch.stdin?.end();
    await gone;
  });
  return folder;
}

const DYING = ['setpriv', '--pdeathsig', 'KILL'];
let canDie: boolean | undefined;

/** What starts a process that the kernel kills when this one ends; empty on a system without it. */
export function dyingWithUs(): readonly string[] {
  canDie ??= spawnSync('setpriv', [...DYING.slice(1), 'true'], { stdio: 'ignore' }).status === 0;
  return canDie ? DYING : [];
}
