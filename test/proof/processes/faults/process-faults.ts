// Faults of the process: killed, stopped, started on an older store, upgraded, reloaded.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { BridgeProcess } from '../bridge-process.ts';
import type { Fault } from '../fault.ts';

const STORES = join(import.meta.dirname, '../../../fixtures/stores');
const OLDER_VERSIONS = [1, 2, 3, 4, 5, 6, 7, 8];

export const KILL: Fault = {
  name: 'kill',
  kind: 'process',
  losesReceipts: true,
  begin: async ({ bridge }) => {
    await bridge.running();
    await bridge.kill();
  },
  hasBitten: ({ bridge }) => bridge.gone.some(({ how, code }) => how === 'killed' && code === null),
};

const STOP: Fault = {
  name: 'stop',
  kind: 'process',
  begin: async ({ bridge }) => {
    await bridge.running();
    bridge.isPaused = true;
    bridge.signal('SIGSTOP');
  },
  // Under strace the letter is a small one.
  hasBitten: ({ bridge: { pid } }) => pid !== null && /^[tT]$/.test(stateOf(pid)),
  end: ({ bridge }) => {
    bridge.signal('SIGCONT');
    bridge.isPaused = false;
  },
};

/** As in proc(5); an empty text if it has ended. */
function stateOf(pid: number): string {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) ? (/\) (\w) /.exec(readFileSync(path, 'utf8'))?.[1] ?? '') : '';
}

/** Rows that wait for the sink `hurt` are delivered by the next process. */
const UPGRADE: Fault = {
  name: 'upgrade',
  kind: 'process',
  losesReceipts: true,
  begin: async ({ bridge }) => {
    await bridge.running();
    await bridge.restart();
  },
  hasBitten: ({ bridge }) => bridge.gone.some(({ how }) => how === 'stopped'),
};

const RELOAD: Fault = {
  name: 'reload',
  kind: 'process',
  begin: async ({ bridge }) => {
    await bridge.running(true);
    poll(bridge, 60);
  },
  hasBitten: ({ bridge }) => {
    const isApplied = /"by":"SIGHUP"[^\n]*in force/.test(bridge.wholeLog);
    // The process that had the signal may have been killed before it could read.
    if (!isApplied && bridge.url !== '') poll(bridge, 61 + (performance.now() % 30));
    return isApplied;
  },
  end: ({ bridge }) => poll(bridge, 50),
};

/** Reloads with another interval. */
function poll(bridge: BridgeProcess, intervalMs: number): void {
  bridge.reload(({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...(metadata as object), pollInterval: `${Math.round(intervalMs)}ms` },
  }));
}

/** What an older release did not deliver to the sink `away` is delivered, and nothing of it is lost. */
const OLDER_STORE: Fault = {
  name: 'older-store',
  kind: 'process',
  prepare: (world, chance) => {
    const version = chance.one(OLDER_VERSIONS);
    const { owed } = JSON.parse(readFileSync(join(STORES, `version-${version}.json`), 'utf8'));
    mkdirSync(world.folder.store, { recursive: true, mode: 0o700 });
    const database = gunzipSync(readFileSync(join(STORES, `version-${version}.db.gz`)));
    writeFileSync(join(world.folder.store, 'outbox.db'), database, { mode: 0o600 });
    world.owe(owed);
  },
  begin: () => {},
  hasBitten: (world) => world.hasOwed(),
};

export const PROCESS_FAULTS: readonly Fault[] = [KILL, STOP, UPGRADE, RELOAD, OLDER_STORE];
