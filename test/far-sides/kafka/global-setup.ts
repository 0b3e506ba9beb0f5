// `node --test --test-global-setup` → one Kafka broker for all test files, stopped behind them.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from './cluster.ts';
import { noDistribution } from './distribution.ts';
import { launchShared, SHARED_KAFKA, type SharedState } from './shared-kafka.ts';

let folder: string | undefined;
let launched: Promise<Cluster | undefined> | undefined;

/** Waits for nothing: the tests that need the broker do. */
export function globalSetup(): void {
  if (process.env['KAFKA_BROKERS'] || noDistribution()) return;
  folder = mkdtempSync(join(tmpdir(), 'bridge-shared-kafka-'));
  const file = join(folder, 'state.json');
  process.env[SHARED_KAFKA] = file;
  launched = launch(file);
}

export async function globalTeardown(): Promise<void> {
  await (await launched)?.[Symbol.asyncDispose]();
  if (folder) rmSync(folder, { recursive: true });
}

async function launch(file: string): Promise<Cluster | undefined> {
  try {
    const { cluster, shared } = await launchShared();
    tell(file, shared);
    return cluster;
  } catch (error) {
    tell(file, { failure: (error as Error).message });
    return undefined;
  }
}

/** Whole or not at all. */
function tell(file: string, state: SharedState): void {
  writeFileSync(`${file}.unfinished`, JSON.stringify(state));
  renameSync(`${file}.unfinished`, file);
}
