// --config → the store of that bridge, which may be running, for verbs that read or queue.
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { storeFolder } from '../config/check-config.ts';
import { isUnused } from '../outbox/lock.ts';
import { type Outbox, openOutbox } from '../outbox/outbox.ts';
import { loadConfig, loadSection } from './config.ts';
import { needed, usageError, type VerbContext } from './verb.ts';

/**
 * Runs `work` on the store that the configuration names, then closes the store. A running bridge sees queued deliveries
 * within a second.
 */
export async function withStore<T>(
  context: VerbContext,
  work: (outbox: Outbox, sinks: readonly string[]) => T | Promise<T>,
): Promise<T> {
  const config = await loadConfig(context, needed(context, 'config'));
  const { path, maxBytes } = config.store;
  using outbox = openOutbox(path, { deps: context.deps, lock: false, ...(maxBytes !== null && { maxBytes }) });
  return await work(outbox, Object.keys(config.sinks));
}

/** Like `withStore`, for verbs that only read: reads no secret of the configuration. */
export async function withStoreToRead<T>(
  context: VerbContext,
  file: string,
  work: (outbox: Outbox) => T | Promise<T>,
): Promise<T> {
  using outbox = openOutbox(storeOf(context, file, await loadSection(file, 'store')), {
    deps: context.deps,
    lock: false,
  });
  return await work(outbox);
}

/**
 * @throws Error if no bridge runs on the store of this configuration, so that an answer at its address is another
 * bridge's. A store that this process may not read counts as used, and so does one without store.path that is missing
 * here: systemd may have named its folder.
 */
export async function expectOwnBridge(context: VerbContext, file: string): Promise<void> {
  const section = await loadSection(file, 'store');
  const folder = storeOf(context, file, section);
  if (section.path === null && !existsSync(folder)) return;
  if (isUnused(folder)) {
    throw new Error(
      `the bridge of ${file} does not run: no process uses its store ${folder}. Another bridge answers at its address`,
    );
  }
}

function storeOf({ env }: VerbContext, file: string, section: Parameters<typeof storeFolder>[0]): string {
  return storeFolder(section, { directory: dirname(resolve(file)), env });
}

/** @throws BridgeError BRIDGE_USAGE if the configuration has no sink of this name */
export function knownSink(name: string, sinks: readonly string[]): string {
  if (!sinks.includes(name))
    throw usageError(`the configuration has no sink "${name}"; it has ${sinks.map((sink) => `"${sink}"`).join(', ')}`);
  return name;
}
