// Configured sinks → an adapter and a lane for each, and which of them get a change.
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { AdapterMemory } from '../../adapters/adapter.ts';
import type { Config } from '../config/config.ts';
import { Lane } from '../delivery/lane.ts';
import type { AttemptReport, LaneStatus } from '../delivery/lane-report.ts';
import { type ManagedAdapter, manageAdapter } from '../delivery/managed-adapter.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Deps } from '../time/clock.ts';

export interface SinksParts {
  readonly config: Pick<Config, 'sinks'>;
  readonly outbox: Outbox;
  readonly deps: Deps;
  readonly logger: Logger;
  readonly stdout: Writable;
}

export interface SinkReports {
  readonly onAttempt: (sink: string, report: AttemptReport) => void;
  readonly onState: (sink: string, status: LaneStatus) => void;
}

/** One for each bridge. Does nothing before `open`. */
export class Sinks {
  readonly #parts: SinksParts;
  #lanes = new Map<string, Lane>();

  constructor(parts: SinksParts) {
    this.#parts = parts;
  }

  /** Tells the store which sinks there are, then lets a lane for each deliver what the store holds for it. Once, or again after `close`. */
  open({ onAttempt, onState }: SinkReports): void {
    this.#syncStore();
    const { config, outbox, deps, logger, stdout } = this.#parts;
    this.#lanes = new Map(
      Object.entries(config.sinks).map(([name, { retry }]) => {
        const own = logger.child({ area: 'delivery', sink: name });
        const adapter = createAdapter(name, config, { deps, logger: own, stdout, memory: memoryOf(name, outbox) });
        const reports = { onAttempt: onAttempt.bind(null, name), onState: onState.bind(null, name) };
        return [name, new Lane({ name, adapter, store: outbox.queue, retry, deps, logger: own, ...reports })];
      }),
    );
    for (const lane of this.#lanes.values()) lane.start();
  }

  /** New rows are queued, by this process or another. */
  wake(): void {
    for (const lane of this.#lanes.values()) lane.wake();
  }

  /** By name; empty before `open`. */
  status(): ReadonlyMap<string, LaneStatus> {
    return new Map([...this.#lanes].map(([name, lane]) => [name, lane.status()]));
  }

  /** Lets running deliveries end, for so long at most. */
  async close(graceMs: number): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.close(graceMs)));
  }

  #syncStore(): void {
    const { config, outbox, logger } = this.#parts;
    const configured = Object.entries(config.sinks).map(([name, { type, fingerprint }]) => ({ name, type, fingerprint }));
    const { added, removed, unretired } = outbox.sinks.sync(configured);
    for (const sink of added) logger.info({ sink }, 'new sink: it gets what happens from now on');
    for (const { sink, deadLettered } of removed) {
      logger.warn({ sink, deadLettered }, 'this sink is no longer configured: what was queued for it is dead-lettered as "sink removed"');
    }
    for (const sink of unretired) logger.info({ sink }, 'the sink was retired; its configuration changed, so it starts again');
  }
}

export interface AdapterParts extends Pick<SinksParts, 'deps' | 'logger' | 'stdout'> {
  /** Without it the adapter remembers nothing, as where its options are judged or its sink is only reached for. */
  readonly memory?: AdapterMemory;
}

/** @throws BridgeError BRIDGE_CONFIG_INVALID where options that fit the schema cannot work together. */
export function createAdapter(
  name: string,
  config: Pick<Config, 'sinks'>,
  { deps, logger, stdout, memory = NO_MEMORY }: AdapterParts,
): ManagedAdapter {
  const sink = config.sinks[name];
  if (sink === undefined) throw new RangeError(`no sink ${name}`);
  const { adapter, options, directory } = sink;
  return manageAdapter(adapter.create(options, { ...deps, name, logger, stdout, memory, directory }), name);
}

const NO_MEMORY: AdapterMemory = { read: () => null, write: () => undefined };

function memoryOf(sink: string, outbox: Outbox): AdapterMemory {
  return { read: () => outbox.sinks.consent(sink), write: (text) => outbox.sinks.saveConsent(sink, text) };
}
