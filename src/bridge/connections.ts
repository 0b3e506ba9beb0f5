// A configuration → the problems that block a `run`, local or remote. Sends no event.
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { Adapter } from '../../adapters/adapter.ts';
import type { ApprovalSource } from '../../adapters/approval-source.ts';
import { openKeySet } from '../auth/key-set.ts';
import type { JwtOptions } from '../auth/options.ts';
import type { Config } from '../config/config.ts';
import { clockFindings } from '../diagnosis/clock.ts';
import type { Finding } from '../diagnosis/finding.ts';
import { MACHINE_PROBE, type MachineProbe } from '../diagnosis/machine.ts';
import { networkFindings, proxyFindings } from '../diagnosis/network.ts';
import { placeFindings } from '../diagnosis/places.ts';
import { messageOf } from '../errors.ts';
import { createHttpTransport } from '../metadata/http-transport.ts';
import type { MetadataTransport } from '../metadata/transport.ts';
import { isMetadataAddress } from '../net/private-addresses.ts';
import { type Deps, orAbort } from '../time/clock.ts';
import { createSource } from './approval-sources.ts';
import { MetadataSource } from './metadata-source.ts';
import { createAdapter } from './sinks/sink-adapter.ts';

interface ReachParts {
  readonly deps: Deps;
  readonly logger: Logger;
  readonly stdout: Writable;
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** This machine, except in tests. */
  readonly machine?: MachineProbe;
}

/**
 * Creates all adapters and sources at once, so that faults in their options show. Then checks one after another, as the
 * result is read.
 * @throws BridgeError BRIDGE_CONFIG_INVALID
 */
export function checkConnections(config: Config, parts: ReachParts): AsyncIterable<Finding> {
  const adapters = Object.keys(config.sinks).map(
    (name): Named => [`sinks.${name}`, createAdapter(name, config, parts)],
  );
  sourcesOf(config, parts, UNKNOWN_OBSERVER);
  return reach(config, adapters, parts);
}

/** Checks the sinks that need only this machine. */
export async function checkLocally(config: Config, parts: ReachParts): Promise<readonly Finding[]> {
  const local = Object.entries(config.sinks).filter(([, { adapter }]) => adapter.isLocal);
  const reached: Finding[] = [];
  for (const [name] of local) reached.push(await checkSink(name, config, parts));
  return reached;
}

/** Checks one sink alone. */
export function checkSink(name: string, config: Config, parts: ReachParts): Promise<Finding> {
  return reachOne([`sinks.${name}`, createAdapter(name, config, parts)], parts);
}

type Named = readonly [name: string, checked: Pick<Adapter | ApprovalSource, 'check'> & AsyncDisposable];

/** The name of the VM while it is unknown. */
const UNKNOWN_OBSERVER = 'unknown';

async function* reach(config: Config, adapters: readonly Named[], parts: ReachParts): AsyncGenerator<Finding> {
  const { machine = MACHINE_PROBE, deps, env } = parts;
  const { store, http } = config;
  yield* await placeFindings(
    { store: store.path, addresses: { 'http.listen': http.listen, 'http.health': http.health } },
    machine,
  );
  const metadata = await reachMetadata(config, parts);
  yield { name: 'metadata', error: metadata.error, found: null };
  const { endpoint } = config.metadata;
  if (isAzure(endpoint)) yield* clockFindings(metadata.date, deps.wallMs());
  if (metadata.error !== null && endpoint !== 'discover') yield* await networkFindings(endpoint, machine);
  let isReached = metadata.error === null;
  if (config.approvals.jwt !== null)
    yield { name: 'approvals.jwt', error: await keySetError(config.approvals.jwt, parts), found: null };
  for (const named of [...adapters, ...sourcesOf(config, parts, metadata.observerId)]) {
    const finding = await reachOne(named, parts);
    isReached &&= finding.error === null;
    yield finding;
  }
  if (!isReached) yield* proxyFindings(env);
}

async function reachOne([name, checked]: Named, { signal }: ReachParts): Promise<Finding> {
  try {
    return { name, error: null, found: await checked.check(signal) };
  } catch (error) {
    signal.throwIfAborted();
    return { name, error: messageOf(error), found: null };
  } finally {
    await checked[Symbol.asyncDispose]();
  }
}

/** A simulator has its own clock. */
function isAzure(endpoint: string): boolean {
  return endpoint === 'discover' || isMetadataAddress(new URL(endpoint).hostname);
}

/** Returns null if there are keys. */
async function keySetError(jwt: JwtOptions, { deps, logger, signal }: ReachParts): Promise<string | null> {
  try {
    await orAbort(openKeySet(jwt, deps, logger).check(), signal);
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return messageOf(error);
  }
}

/** The consumer group or subscription of a source may contain the VM's name. */
function sourcesOf(config: Config, parts: ReachParts, observerId: string): readonly Named[] {
  return Object.keys(config.approvals.sources).map((name) => [
    `approvals.sources.${name}`,
    createSource(name, config, { ...parts, observerId }).source,
  ]);
}

interface ReachedMetadata {
  readonly error: string | null;
  readonly observerId: string;
  /** The header of the last answer. */
  readonly date: string | undefined;
}

async function reachMetadata(config: Config, { deps, logger, signal }: ReachParts): Promise<ReachedMetadata> {
  const http = createHttpTransport(deps);
  let date: string | undefined;
  const transport: MetadataTransport = async (request, abort) => {
    const answer = await http.send(request, abort);
    date = answer.headers['date'];
    return answer;
  };
  const metadata = new MetadataSource({ config, deps, logger, transport, storedGoodAt: null });
  try {
    const poll = await metadata.client.poll(signal);
    if (poll.kind === 'failure') return { error: poll.error.message, observerId: UNKNOWN_OBSERVER, date };
    const hasSources = Object.keys(config.approvals.sources).length > 0;
    const answer = hasSources ? await metadata.client.instance(signal) : null;
    const name = answer?.kind === 'known' ? answer.name : null;
    return { error: null, observerId: name?.toLowerCase() ?? UNKNOWN_OBSERVER, date };
  } finally {
    metadata.close();
    http.close();
  }
}
