// Faults of the machine: the clock jumps, memory is limited, file descriptors are gone.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryLimit } from '../../../support/memory-limit.ts';
import { SHIPPED_FLAGS, SHIPPED_MEMORY } from '../../cost/shipped.ts';
import type { Fault } from '../fault.ts';
import type { World } from '../world.ts';

/** NotBefore is farther ahead. */
const MOST_JUMP_S = 300;
const LEAST_JUMP_S = 10;
const SEEN_JUMP_MS = 5000;
const ENOUGH_FILES = 1024;

const [FAKETIME] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');

function clockFile(world: World): string {
  return join(world.root, 'clock');
}

/** The clock of the bridge, by the header Date of an answer; NaN if it does not answer. */
async function clockAt(url: string): Promise<number> {
  if (url === '') return Number.NaN;
  try {
    const { headers } = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1000) });
    return Date.parse(headers.get('date') ?? '');
  } catch {
    return Number.NaN;
  }
}

const CLOCK_JUMP: Fault = {
  name: 'clock-jump',
  kind: 'machine',
  missing: () => FAKETIME === undefined && 'libfaketime is missing (apt-get install libfaketime)',
  prepare: (world) => {
    writeFileSync(clockFile(world), '+0');
    world.bridge.options = {
      ...world.bridge.options,
      env: {
        LD_PRELOAD: FAKETIME ?? '',
        FAKETIME_TIMESTAMP_FILE: clockFile(world),
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      },
    };
  },
  begin: (world, chance) => {
    const seconds = chance.between(LEAST_JUMP_S, MOST_JUMP_S);
    writeFileSync(clockFile(world), `${chance.is(0.5) ? '+' : '-'}${seconds}`);
  },
  hasBitten: async ({ bridge: { url } }) => Math.abs((await clockAt(url)) - Date.now()) > SEEN_JUMP_MS,
  end: (world) => writeFileSync(clockFile(world), '+0'),
};

let canLimit: boolean | undefined;

/** Tried once. */
function hasCgroups(): boolean {
  canLimit ??= memoryLimit(SHIPPED_MEMORY)?.kind.startsWith('cgroup') === true;
  return canLimit;
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** As in the image. */
const MEMORY_LIMIT: Fault = {
  name: 'memory-limit',
  kind: 'machine',
  missing: () => !hasCgroups() && 'no memory cgroup can be made here',
  prepare: ({ bridge }) => {
    const { launcher = [] } = memoryLimit(SHIPPED_MEMORY) ?? {};
    bridge.options = { ...bridge.options, launcher, flags: SHIPPED_FLAGS };
  },
  begin: () => {},
  hasBitten: ({ bridge: { pid } }) => pid !== null && textOf(`/proc/${pid}/cgroup`).includes('bridge-test-'),
};

function limitFiles(pid: number, most: number): void {
  try {
    execFileSync('prlimit', ['--pid', String(pid), `--nofile=${most}:`], { stdio: 'pipe' });
  } catch (error) {
    // It has ended meanwhile.
    if (existsSync(`/proc/${pid}`)) throw error;
  }
}

/** No file, connection or listener can be opened; those that are open stay. */
const NO_DESCRIPTORS: Fault = {
  name: 'no-descriptors',
  kind: 'machine',
  mayEnd: true,
  losesReceipts: true,
  missing: () => !existsSync('/usr/bin/prlimit') && 'prlimit is missing (util-linux)',
  begin: ({ bridge: { pid } }) => {
    if (pid !== null) limitFiles(pid, 1);
  },
  hasBitten: ({ bridge: { pid, url, wholeLog } }) => {
    const hasFailed = wholeLog.includes('EMFILE');
    // The process that had the limit may have been killed.
    if (!hasFailed && pid !== null && url !== '') limitFiles(pid, 1);
    return hasFailed;
  },
  end: ({ bridge: { pid } }) => {
    if (pid !== null) limitFiles(pid, ENOUGH_FILES);
  },
};

export const MACHINE_FAULTS: readonly Fault[] = [CLOCK_JUMP, MEMORY_LIMIT, NO_DESCRIPTORS];
