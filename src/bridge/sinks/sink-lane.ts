// The successive configurations of a sink → its current lane, and earlier lanes that still end.
import type { Logger } from 'pino';
import type { SinkConfig } from '../../config/config.ts';
import type { Lane } from '../../delivery/lane.ts';
import type { LaneStatus } from '../../delivery/lane-report.ts';
import { messageOf } from '../../errors.ts';
import type { RunningWork } from '../../model/deliveries.ts';
import type { CancelTimer, Deps } from '../../time/clock.ts';

const RETRY_MS = 1000;
/**
 * The time for calls of an earlier configuration to finish with a file, because a file has one writer at a time. A
 * Preempt may have 10 s of notice, and closing the file may take 2 s more.
 */
const FILE_GRACE_MS = 5_000;
const NO_KEYS: ReadonlySet<string> = new Set();

/** The relation of a lane to those of earlier configurations. */
export interface LaneSuccession {
  /** Keys with a running call of an earlier lane. */
  readonly heldKeys: () => ReadonlySet<string>;
  readonly isInForce: () => boolean;
}

interface SinkLaneParts {
  /** Stores the sink, then creates the lane. @throws BridgeError BRIDGE_STORE_* */
  readonly create: (config: SinkConfig, succession: LaneSuccession) => Lane;
  /** Stores that the sink was removed. @throws BridgeError BRIDGE_STORE_* */
  readonly drop: () => void;
  /** Resolves when no call of this sink or another one still writes the files of this configuration. */
  readonly obstacles: (config: SinkConfig) => readonly Promise<void>[];
  readonly deps: Pick<Deps, 'after'>;
  /** Bound to the sink's name. */
  readonly logger: Logger;
}

/**
 * The lane of a changed configuration begins at once. A delivery under way ends under the configuration that it began
 * with, and until then the new lane leaves its key alone, so that no event is in two calls and none is delivered twice
 * (behaviour 5.21).
 */
export class SinkLane {
  readonly #parts: SinkLaneParts;
  /** Null: removed. */
  #wanted: SinkConfig | null = null;
  /** Counts the configurations. */
  #generation = 0;
  /** The store and the lane match the wanted configuration. */
  #isSettled = false;
  /** The newest lane; null before the first. */
  #lane: Lane | null = null;
  /** The files that the newest lane writes. */
  #files: readonly string[] = [];
  /** Lanes of earlier configurations that have not ended, and the files that they write. */
  readonly #leaving = new Map<Lane, readonly string[]>();
  #isClosed = false;
  #cancelRetry: CancelTimer = () => {};

  constructor(parts: SinkLaneParts) {
    this.#parts = parts;
  }

  /**
   * Sets the wanted configuration, or null for a removed sink. The previous lane starts no more deliveries; `settle`
   * starts the new one.
   */
  want(config: SinkConfig | null): void {
    this.#wanted = config;
    this.#generation += 1;
    this.#isSettled = false;
    this.#leave();
  }

  /**
   * Starts the wanted lane, unless a file is still in use, or drops a removed sink when no call runs. May be called
   * repeatedly.
   */
  settle(): void {
    this.#cancelRetry();
    if (this.#isClosed || this.#isSettled) return;
    try {
      this.#isSettled = this.#wanted === null ? this.#drop() : this.#begin(this.#wanted);
    } catch (error) {
      this.#parts.logger.error(
        { reason: messageOf(error) },
        'the new configuration of the sink could not be stored: the bridge retries in a second',
      );
      this.#cancelRetry = this.#parts.deps.after(RETRY_MS, () => this.settle());
    }
  }

  /** Waits for running deliveries, up to a time limit, and gives up queued ones. Resolves when no delivery runs. */
  async remove(graceMs: number): Promise<void> {
    this.want(null);
    await Promise.all([...this.#leaving.keys()].map((lane) => lane.close(graceMs)));
    this.settle();
  }

  wake(): void {
    for (const lane of this.#lanes) lane.wake();
  }

  /** The status of the newest lane, including calls of earlier ones. Null before its first delivery. */
  status(): LaneStatus | null {
    const inFlight = [...this.#lanes].reduce((sum, lane) => sum + lane.status().inFlight, 0);
    return this.#lane && { ...this.#lane.status(), inFlight };
  }

  /** Returns what its lanes work on, the oldest first. */
  running(): readonly RunningWork[] {
    return [...this.#lanes].flatMap((lane) => lane.running()).sort((one, other) => one.sinceMs - other.sinceMs);
  }

  /**
   * Resolves when the lanes of earlier configurations that write one of these files have ended their calls, which have
   * 5 s for it; null if none does.
   */
  endingOf(files: readonly string[]): Promise<void> | null {
    const writers = [...this.#leaving].filter(([, written]) => written.some((file) => files.includes(file)));
    if (writers.length === 0) return null;
    return Promise.all(writers.map(([lane]) => lane.disposed(FILE_GRACE_MS))).then(() => {
      // Outcomes may still wait for the store, but their files are no longer in use.
      for (const [lane] of writers) if (this.#leaving.has(lane)) this.#leaving.set(lane, []);
    });
  }

  /** Lets running deliveries end, for so long at most. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    this.#cancelRetry();
    await Promise.all([...this.#lanes].map((lane) => lane.close(graceMs)));
  }

  get #lanes(): ReadonlySet<Lane> {
    return new Set([...this.#leaving.keys(), ...(this.#lane === null ? [] : [this.#lane])]);
  }

  #leave(): void {
    const lane = this.#lane;
    if (lane === null || this.#leaving.has(lane)) return;
    this.#leaving.set(lane, this.#files);
    void lane
      .leave(() => this.#lane?.wake())
      .then(() => {
        this.#leaving.delete(lane);
        this.settle();
      });
  }

  #drop(): boolean {
    if (this.#leaving.size > 0) return false;
    this.#parts.drop();
    return true;
  }

  #begin(config: SinkConfig): boolean {
    const obstacles = this.#parts.obstacles(config);
    if (obstacles.length > 0) {
      void Promise.all(obstacles).then(() => this.settle());
      return false;
    }
    const generation = this.#generation;
    const isInForce = () => this.#generation === generation;
    this.#lane = this.#parts.create(config, { heldKeys: () => this.#heldKeys(), isInForce });
    this.#files = writtenFiles(config);
    this.#lane.start();
    return true;
  }

  #heldKeys(): ReadonlySet<string> {
    if (this.#leaving.size === 0) return NO_KEYS;
    return new Set([...this.#leaving.keys()].flatMap((lane) => lane.busyKeys()));
  }
}

export function writtenFiles({ adapter, options, directory }: SinkConfig): readonly string[] {
  return adapter.filesOf?.(options, directory) ?? [];
}
