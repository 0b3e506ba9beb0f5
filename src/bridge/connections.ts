// A configuration → whether each far side can be reached, without sending or taking anything.
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { Adapter, ApprovalSource } from '../../adapters/adapter.ts';
import { openKeySet } from '../auth/key-set.ts';
import type { JwtOptions } from '../auth/options.ts';
import type { Config } from '../config/config.ts';
import { messageOf } from '../errors.ts';
import { type Deps, orAbort } from '../time/clock.ts';
import { createSource } from './approval-sources.ts';
import { MetadataSource } from './metadata-source.ts';
import { createAdapter } from './sinks.ts';

export interface ReachParts {
  readonly deps: Deps;
  readonly logger: Logger;
  readonly stdout: Writable;
  readonly signal: AbortSignal;
}

export interface Reached {
  /** `metadata`, `approvals.jwt`, `sinks.NAME` or `approvals.sources.NAME`. */
  readonly name: string;
  /** What failed and what to do; null where it can be reached. */
  readonly error: string | null;
  /** What is worth knowing besides; null where there is nothing. */
  readonly found: string | null;
}

/**
 * Makes adapters and sources at once, so that faults in their options show, and reaches for one after the other as the answer is read.
 * @throws BridgeError BRIDGE_CONFIG_INVALID
 */
export function checkConnections(config: Config, parts: ReachParts): AsyncIterable<Reached> {
  const adapters = Object.keys(config.sinks).map((name): Named => [`sinks.${name}`, createAdapter(name, config, parts)]);
  sourcesOf(config, parts, UNKNOWN_OBSERVER);
  return reach(config, adapters, parts);
}

type Named = readonly [name: string, checked: Pick<Adapter | ApprovalSource, 'check'> & AsyncDisposable];

/** Stands for the VM while its name is unknown. */
const UNKNOWN_OBSERVER = 'unknown';

async function* reach(config: Config, adapters: readonly Named[], parts: ReachParts): AsyncGenerator<Reached> {
  const metadata = await reachMetadata(config, parts);
  yield { name: 'metadata', error: metadata.error, found: null };
  if (config.approvals.jwt !== null) yield { name: 'approvals.jwt', error: await keySetError(config.approvals.jwt, parts), found: null };
  for (const [name, checked] of [...adapters, ...sourcesOf(config, parts, metadata.observerId)]) {
    try {
      const found = await checked.check(parts.signal);
      yield { name, error: null, found };
    } catch (error) {
      parts.signal.throwIfAborted();
      yield { name, error: messageOf(error), found: null };
    } finally {
      await checked[Symbol.asyncDispose]();
    }
  }
}

/** Null where there are keys. */
async function keySetError(jwt: JwtOptions, { deps, logger, signal }: ReachParts): Promise<string | null> {
  try {
    await orAbort(openKeySet(jwt, deps, logger).check(), signal);
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return messageOf(error);
  }
}

/** The consumer group or subscription of a source may bear the VM's name. */
function sourcesOf(config: Config, parts: ReachParts, observerId: string): readonly Named[] {
  return Object.keys(config.approvals.sources).map((name) => [
    `approvals.sources.${name}`,
    createSource(name, config, { ...parts, observerId }).source,
  ]);
}

async function reachMetadata(
  config: Config,
  { deps, logger, signal }: ReachParts,
): Promise<{ readonly error: string | null; readonly observerId: string }> {
  const metadata = new MetadataSource({ config, deps, logger, storedGoodAt: null });
  try {
    const poll = await metadata.client.poll(signal);
    if (poll.kind === 'failure') return { error: poll.error.message, observerId: UNKNOWN_OBSERVER };
    const hasSources = Object.keys(config.approvals.sources).length > 0;
    const answer = hasSources ? await metadata.client.instance(signal) : null;
    const name = answer?.kind === 'known' ? answer.name : null;
    return { error: null, observerId: name?.toLowerCase() ?? UNKNOWN_OBSERVER };
  } finally {
    metadata.close();
  }
}
