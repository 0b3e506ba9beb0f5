// Configured sinks → an adapter and a lane for each, updated by reloads.
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { DeliveryNotes, EventsInView } from '../../adapters/adapter.ts';
import { touches } from '../config/changes.ts';
import type { Config, SinkConfig } from '../config/config.ts';
import { secretTexts } from '../config/secrets.ts';
import { Lane } from '../delivery/lane.ts';
import type { AttemptReport, LaneStatus } from '../delivery/lane-report.ts';
import { RequestWindow } from '../delivery/rate-limiter.ts';
import type { RunningWork } from '../model/deliveries.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { ConfiguredSink, SinkNews } from '../outbox/sinks.ts';
import type { Deps } from '../time/clock.ts';
import { settleApproving, sinkApprover } from './approving-sinks.ts';
import type { RunningFlow } from './running-flow.ts';
import { createAdapter, endLeftBehind, memoryOf, notesOf } from './sinks/sink-adapter.ts';
import { type LaneSuccession, SinkLane, writtenFiles } from './sinks/sink-lane.ts';

/** The time for running deliveries to a removed sink. */
const REMOVAL_GRACE_MS = 8000;

type SinksConfig = Parameters<typeof secretTexts>[0];

interface SinksParts {
  /** Null until documents are handled (behaviour 4.12). */
  readonly flow: () => Pick<RunningFlow, 'approvals' | 'ownName' | 'isInView'> | null;
  readonly config: SinksConfig & Pick<Config, 'kinds'>;
  readonly outbox: Outbox;
  readonly deps: Deps;
  readonly logger: Logger;
  readonly stdout: Writable;
}

interface SinkReports {
  readonly onAttempt: (sink: string, report: AttemptReport) => void;
  readonly onState: (sink: string, status: LaneStatus) => void;
}

/** The state that the lanes of a sink share, and the relation of each to earlier lanes. */
interface LaneMakings extends LaneSuccession {
  readonly logger: Logger;
  readonly notes: DeliveryNotes;
  readonly requests: RequestWindow;
}

/** The sinks of a bridge. Does nothing before `open`. */
export class Sinks {
  readonly #parts: SinksParts;
  #sinks: Config['sinks'];
  /** The values of the secrets of the configuration in force. */
  #secrets: readonly string[];
  #reports: SinkReports | null = null;
  #isClosing = false;
  #lanes = new Map<string, SinkLane>();
  /**
   * Lanes of sinks that were removed, by name, until the store has dropped the sink. One that is configured again
   * before keeps its lane and queue.
   */
  readonly #leaving = new Map<string, SinkLane>();

  constructor(parts: SinksParts) {
    this.#parts = parts;
    this.#sinks = parts.config.sinks;
    this.#secrets = secretTexts(parts.config);
  }

  /** Stores which sinks exist, then starts a lane for each. Call it once, or again after `close`. */
  open(reports: SinkReports): void {
    this.#syncStore();
    endLeftBehind({ ...this.#parts, config: { sinks: this.#sinks, kinds: this.#parts.config.kinds } });
    this.#reports = reports;
    this.#lanes = new Map();
    this.#leaving.clear();
    this.#change(Object.entries(this.#sinks));
  }

  get isOpen(): boolean {
    return this.#reports !== null;
  }

  /** Stores the new sinks of a reload before the reload applies. @throws BridgeError BRIDGE_STORE_* */
  prepare({ sinks }: Pick<Config, 'sinks'>): void {
    if (this.#reports === null || this.#isClosing) return;
    const added = Object.entries(sinks).filter(([name]) => !Object.hasOwn(this.#sinks, name));
    this.#logChanged(this.#parts.outbox.sinks.put(added.map(configuredSink)));
  }

  /**
   * Applies a new configuration. A sink keeps its lane if it is unchanged or only its filter has changed. Resolves when
   * no delivery to a removed sink runs.
   */
  async reload(config: SinksConfig, paths: readonly string[]): Promise<void> {
    const { sinks } = config;
    const before = this.#sinks;
    this.#sinks = sinks;
    this.#secrets = secretTexts(config);
    if (this.#reports === null || this.#isClosing) return;
    const gone = Object.keys(before).filter((name) => !Object.hasOwn(sinks, name));
    const removed = gone.map((name) => this.#remove(name));
    const touched = Object.entries(sinks).map((sink) => ({
      sink,
      own: paths.filter((path) => touches([path], `sinks.${sink[0]}`)),
    }));
    const isChanged = ({ sink: [name], own }: (typeof touched)[number]) => own.some((path) => !isOfFilter(path, name));
    this.#change(touched.filter(isChanged).map(({ sink }) => sink));
    for (const each of touched) if (each.own.length > 0 && !isChanged(each)) this.#refilter(...each.sink);
    await Promise.all(removed);
  }

  /** Wakes the lanes: this process or another has queued new rows. */
  wake(): void {
    for (const lane of this.#lanes.values()) lane.wake();
  }

  /** The types of the configured sinks, by name. */
  types(): ReadonlyMap<string, string> {
    return new Map(Object.entries(this.#sinks).map(([name, { type }]) => [name, type]));
  }

  /** By name; empty before `open`. */
  status(): ReadonlyMap<string, LaneStatus> {
    return new Map([...this.#lanes].flatMap(([name, lane]) => statusOf(name, lane)));
  }

  /** Returns what the lanes work on, by the sink's name; also those of removed sinks. */
  running(): ReadonlyMap<string, readonly RunningWork[]> {
    return new Map([...this.#leaving, ...this.#lanes].map(([name, lane]) => [name, lane.running()]));
  }

  /** Waits for running deliveries, up to a time limit. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    await Promise.all([...this.#lanes.values(), ...this.#leaving.values()].map((lane) => lane.close(graceMs)));
    this.#isClosing = false;
    this.#reports = null;
  }

  /** First stops all changed lanes, because two sinks may exchange their files. */
  #change(changed: readonly (readonly [string, SinkConfig])[]): void {
    for (const [name, config] of changed) this.#laneOf(name).want(config);
    for (const [name] of changed) this.#laneOf(name).settle();
  }

  #laneOf(name: string): SinkLane {
    const lane = this.#lanes.get(name) ?? this.#leaving.get(name) ?? this.#newLane(name);
    this.#leaving.delete(name);
    this.#lanes.set(name, lane);
    return lane;
  }

  #newLane(name: string): SinkLane {
    const { outbox, deps, logger } = this.#parts;
    const own = { logger: logger.child({ area: 'delivery', sink: name }), notes: notesOf(name, outbox) };
    const requests = new RequestWindow({ name, store: outbox.queue, deps, logger: own.logger });
    return new SinkLane({
      create: (config, succession) => this.#create([name, config], { ...own, requests, ...succession }),
      drop: () => {
        this.#logRemoved([{ sink: name, deadLettered: outbox.sinks.remove(name) }]);
        this.#leaving.delete(name);
      },
      obstacles: (config) => this.#endingOf(writtenFiles(config)),
      ...{ deps, logger: own.logger },
    });
  }

  #create(
    [name, config]: readonly [string, SinkConfig],
    { logger, notes, requests, heldKeys, isInForce }: LaneMakings,
  ): Lane {
    const { outbox, deps, stdout } = this.#parts;
    const approver = sinkApprover(config);
    const reports = this.#reports;
    if (reports === null) throw new RangeError(`sink ${name} is closed`);
    this.#logChanged(outbox.sinks.put([configuredSink([name, config])]));
    const kept = { memory: memoryOf(name, outbox, isInForce), notes, events: this.#events };
    const secrets = () => this.#secrets;
    const adapter = createAdapter(name, { sinks: { [name]: config } }, { deps, logger, stdout, secrets, ...kept });
    return new Lane({
      ...{ name, adapter, retry: config.retry, deps, logger, requests, heldKeys },
      store: outbox.queue,
      settle: approver
        ? settleApproving(approver.name, {
            queue: outbox.queue,
            approvals: () => this.#parts.flow()?.approvals ?? null,
          })
        : undefined,
      cancels: config.adapter.cancels?.(config.options) ?? false,
      onAttempt: reports.onAttempt.bind(null, name),
      onState: reports.onState.bind(null, name),
    });
  }

  get #events(): EventsInView {
    const { outbox, flow } = this.#parts;
    return {
      ownName: () => flow()?.ownName ?? null,
      isInView: () => flow()?.isInView ?? false,
      wasSeen: (key) => outbox.known.lastOccurrence(key) !== null,
    };
  }

  #endingOf(files: readonly string[]): readonly Promise<void>[] {
    return [...this.#lanes.values(), ...this.#leaving.values()].flatMap((lane) => lane.endingOf(files) ?? []);
  }

  async #remove(name: string): Promise<void> {
    const lane = this.#laneOf(name);
    this.#lanes.delete(name);
    this.#leaving.set(name, lane);
    await lane.remove(REMOVAL_GRACE_MS);
  }

  /** The lane continues. A retirement ends, as with every change of a sink. */
  #refilter(name: string, config: SinkConfig): void {
    try {
      this.#logChanged(this.#parts.outbox.sinks.put([configuredSink([name, config])]));
      this.#lanes.get(name)?.wake();
    } catch (error) {
      this.#parts.logger.error(
        { err: error, sink: name },
        'the changed filter of this sink could not be stored: the next start stores it',
      );
    }
  }

  #syncStore(): void {
    const differences = this.#parts.outbox.sinks.sync(Object.entries(this.#sinks).map(configuredSink));
    this.#logChanged(differences);
    this.#logRemoved(differences.removed);
  }

  #logChanged({ added, unretired }: SinkNews): void {
    const { logger } = this.#parts;
    for (const sink of added) logger.info({ sink }, 'new sink: it receives events from now on');
    for (const sink of unretired)
      logger.info({ sink }, 'the sink was retired; it starts again, because its configuration has changed');
  }

  #logRemoved(removed: readonly { readonly sink: string; readonly deadLettered: number }[]): void {
    for (const { sink, deadLettered } of removed) {
      this.#parts.logger.warn(
        { sink, deadLettered },
        'this sink is no longer configured: its queued deliveries become dead letters as "sink removed"',
      );
    }
  }
}

function statusOf(name: string, lane: SinkLane): [string, LaneStatus][] {
  const status = lane.status();
  return status === null ? [] : [[name, status]];
}

function configuredSink([name, { type, fingerprint }]: readonly [string, SinkConfig]): ConfiguredSink {
  return { name, type, fingerprint };
}

function isOfFilter(path: string, name: string): boolean {
  return path === `sinks.${name}.filter` || path.startsWith(`sinks.${name}.filter.`);
}
