// --config → that bridge's store, opened beside it, for verbs that read or queue.
import { dirname, resolve } from 'node:path';
import { storeFolder } from '../config/check-config.ts';
import { BridgeError } from '../errors.ts';
import { type Outbox, openOutbox } from '../outbox/outbox.ts';
import { loadConfig, loadSection } from './config.ts';
import { needed, type VerbContext } from './verb.ts';

/** Runs `work` on the store that the configuration names; the store is closed behind it, and a running bridge sees what was queued within a second. */
export async function withStore<T>(context: VerbContext, work: (outbox: Outbox, sinks: readonly string[]) => T | Promise<T>): Promise<T> {
  const config = await loadConfig(context, needed(context, 'config'));
  const { path, maxBytes } = config.store;
  using outbox = openOutbox(path, { deps: context.deps, lock: false, ...(maxBytes !== null && { maxBytes }) });
  return await work(outbox, Object.keys(config.sinks));
}

/** As `withStore`, for verbs that read alone: no secret of the configuration is opened. */
export async function withStoreToRead<T>(context: VerbContext, file: string, work: (outbox: Outbox) => T | Promise<T>): Promise<T> {
  const section = await loadSection(file, 'store');
  const folder = storeFolder(section, { directory: dirname(resolve(file)), env: context.env });
  using outbox = openOutbox(folder, { deps: context.deps, lock: false });
  return await work(outbox);
}

/** @throws BridgeError BRIDGE_USAGE where the sink is not one of the configuration's. */
export function knownSink(name: string, sinks: readonly string[]): string {
  if (!sinks.includes(name)) {
    throw new BridgeError(
      'BRIDGE_USAGE',
      `there is no sink "${name}" in the configuration; it has ${sinks.map((sink) => `"${sink}"`).join(', ')}`,
    );
  }
  return name;
}
