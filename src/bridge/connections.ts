// A configuration → whether the metadata service and each sink can be reached, without sending an event.
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { Adapter } from '../../adapters/adapter.ts';
import type { Config } from '../config/config.ts';
import { messageOf } from '../errors.ts';
import type { Deps } from '../time.ts';
import { MetadataSource } from './metadata-source.ts';
import { createAdapter } from './sinks.ts';

export interface ConnectionParts {
  readonly deps: Deps;
  readonly logger: Logger;
  readonly stdout: Writable;
  readonly signal: AbortSignal;
}

export interface Connection {
  /** `metadata`, or `sinks.NAME`. */
  readonly name: string;
  /** What failed and what to do; null where it can be reached. */
  readonly error: string | null;
  /** What is worth knowing besides; null where there is nothing. */
  readonly found: string | null;
}

/**
 * Makes the adapters at once, so that faults in their options show, and reaches for one after the other as the answer is read.
 * @throws BridgeError BRIDGE_CONFIG_INVALID
 */
export function checkConnections(config: Config, parts: ConnectionParts): AsyncIterable<Connection> {
  const adapters = Object.keys(config.sinks).map((name) => [`sinks.${name}`, createAdapter(name, config, parts)] as const);
  return reach(config, adapters, parts);
}

async function* reach(
  config: Config,
  adapters: readonly (readonly [string, Adapter])[],
  parts: ConnectionParts,
): AsyncGenerator<Connection> {
  yield { name: 'metadata', error: await reachMetadata(config, parts), found: null };
  for (const [name, adapter] of adapters) {
    try {
      const found = await adapter.check(parts.signal);
      yield { name, error: null, found };
    } catch (error) {
      parts.signal.throwIfAborted();
      yield { name, error: messageOf(error), found: null };
    } finally {
      await adapter[Symbol.asyncDispose]();
    }
  }
}

async function reachMetadata(config: Config, { deps, logger, signal }: ConnectionParts): Promise<string | null> {
  const metadata = new MetadataSource({ config, deps, logger, lastGoodAt: () => null });
  try {
    const poll = await metadata.client.poll(signal);
    return poll.kind === 'document' ? null : poll.error.message;
  } finally {
    metadata.close();
  }
}
