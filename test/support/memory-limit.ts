// Bytes → a memory cgroup for a process; if none can be made, a peak that is measured.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';
/** Removed when this process ends. The processes in them have ended by then. */
const folders: string[] = [];

export interface MemoryLimit {
  /** The kernel enforces the limit of a cgroup; a measured one is for the test to compare. */
  readonly kind: 'cgroup v1' | 'cgroup v2' | 'measured';
  /** The command that starts another one, which follows it, under the limit. Empty if there is no cgroup. */
  readonly launcher: readonly string[];
  /** The most memory that the process has had so far, in bytes. */
  peak(pid: number): number;
}

interface Files {
  readonly kind: 'cgroup v1' | 'cgroup v2';
  readonly folder: string;
  readonly limit: string;
  readonly swap: string;
  readonly peak: string;
}

/**
 * For one process and its children. Null if this system has neither cgroups nor /proc.
 * @throws Error if REQUIRE_MEMORY_CGROUP is set and this user cannot make a memory cgroup
 */
export function memoryLimit(bytes: number): MemoryLimit | null {
  const files = cgroup(bytes);
  if (files === null) {
    if (process.env['REQUIRE_MEMORY_CGROUP'])
      throw new Error(`REQUIRE_MEMORY_CGROUP is set, but no memory cgroup can be made in ${ROOT}`);
    return existsSync('/proc/self/status') ? { kind: 'measured', launcher: [], peak: anonymousPeak } : null;
  }
  if (folders.length === 0) process.once('exit', () => folders.forEach(remove));
  folders.push(files.folder);
  return {
    kind: files.kind,
    launcher: ['/bin/sh', '-c', `echo $$ > ${join(files.folder, 'cgroup.procs')} && exec "$@"`, 'sh'],
    peak: () => Number(readFileSync(join(files.folder, files.peak), 'utf8')),
  };
}

/** Null if this user may not make one, or the memory controller is not delegated. */
function cgroup(bytes: number): Files | null {
  const name = `bridge-test-${process.pid}-${folders.length}`;
  const own = /^0::(.*)$/m.exec(textOf('/proc/self/cgroup'))?.[1] ?? '/';
  const candidates: readonly Files[] = [
    {
      ...{ kind: 'cgroup v1', folder: join(ROOT, 'memory', name) },
      ...{ limit: 'memory.limit_in_bytes', swap: 'memory.memsw.limit_in_bytes', peak: 'memory.max_usage_in_bytes' },
    },
    {
      ...{ kind: 'cgroup v2', folder: join(ROOT, own, name) },
      ...{ limit: 'memory.max', swap: 'memory.swap.max', peak: 'memory.peak' },
    },
  ];
  return candidates.find((files) => isMade(files, bytes)) ?? null;
}

function isMade({ kind, folder, limit, swap, peak }: Files, bytes: number): boolean {
  if (!existsSync(join(folder, '..', 'cgroup.procs'))) return false;
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, limit), String(bytes));
    // Swap would make the limit a soft one. A kernel without swap has no such file.
    if (existsSync(join(folder, swap))) writeFileSync(join(folder, swap), kind === 'cgroup v1' ? String(bytes) : '0');
    return existsSync(join(folder, peak));
  } catch {
    remove(folder);
    return false;
  }
}

function remove(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It was never made.
  }
}

/** Resident pages without those of files: the program itself, which the kernel can take back. */
function anonymousPeak(pid: number): number {
  const status = textOf(`/proc/${pid}/status`);
  const bytes = (field: string) => Number(status.split(`${field}:`)[1]?.split('kB')[0] ?? Number.NaN) * 1024;
  return bytes('VmHWM') - bytes('RssFile');
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
