// Faults of the process: killed, stopped, started on an older store, upgraded, reloaded.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Fault } from '../fault.ts';

const STORES = join(import.meta.dirname, '../../../fixtures/stores');
const OLDER_VERSIONS = [1, 2, 3, 4, 5, 6, 7, 8];

export const KILL: Fault = {
  name: 'kill',
  kind: 'process',
  losesReceipts: true,
  begin: ({ bridge }) => bridge.kill(),
};

const STOP: Fault = {
  name: 'stop',
  kind: 'process',
  begin: ({ bridge }) => {
    bridge.isPaused = true;
    bridge.signal('SIGSTOP');
  },
  end: ({ bridge }) => {
    bridge.signal('SIGCONT');
    bridge.isPaused = false;
  },
};

/** Rows that wait for the sink `hurt` are delivered by the next process. */
const UPGRADE: Fault = {
  name: 'upgrade',
  kind: 'process',
  losesReceipts: true,
  begin: ({ bridge }) => bridge.restart(),
};

const RELOAD: Fault = {
  name: 'reload',
  kind: 'process',
  begin: ({ bridge }) =>
    bridge.reload(({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...(metadata as object), pollInterval: '60ms' },
    })),
  end: ({ bridge }) =>
    bridge.reload(({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...(metadata as object), pollInterval: '50ms' },
    })),
};

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
};

export const PROCESS_FAULTS: readonly Fault[] = [KILL, STOP, UPGRADE, RELOAD, OLDER_STORE];
