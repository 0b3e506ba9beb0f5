// A sink's configuration, later another or none → the lane that delivers, and those before it.
import type { Logger } from 'pino';
import type { SinkConfig } from '../../config/config.ts';
import type { Lane } from '../../delivery/lane.ts';
import type { LaneStatus } from '../../delivery/lane-report.ts';
import { messageOf } from '../../errors.ts';
import type { CancelTimer, Deps } from '../../time/clock.ts';

const RETRY_MS = 1000;
/**
 * A file has one writer at a time: calls that write one by an earlier configuration have so long to end. A Preempt may have 10 s of notice,
 * and closing the file may take 2 s more.
 */
const FILE_GRACE_MS = 5_000;
const NO_KEYS: ReadonlySet<string> = new Set();

/** What a lane has to do with those of earlier configurations. */
export interface LaneSuccession {
  /** Keys that they still have in a call. */
  readonly heldKeys: () => ReadonlySet<string>;
  /** Whether no later configuration is in force. */
  readonly isInForce: () => boolean;
}

export interface SinkLaneParts {
  /** Tells the store, then makes the lane. @throws BridgeError BRIDGE_STORE_* */
  readonly create: (config: SinkConfig, succession: LaneSuccession) => Lane;
  /** Tells the store that the sink is gone. @throws BridgeError BRIDGE_STORE_* */
  readonly drop: () => void;
  /** What has to end before a lane of this configuration may begin: calls that still write its files, of this sink or others. */
  readonly obstacles: (config: SinkConfig) => readonly Promise<void>[];
  readonly deps: Pick<Deps, 'after'>;
  /** Bound to the sink's name. */
  readonly logger: Logger;
}

/**
 * The lane of a changed configuration begins at once. A delivery under way ends under the configuration that it began with, and until then
 * the new lane leaves its key alone, so that no event is in two calls and none is delivered twice (behaviour 5.21).
 */
export class SinkLane {
  readonly #parts: SinkLaneParts;
  /** Null: removed. */
  #wanted: SinkConfig | null = null;
  /** Counts the configurations. */
  #generation = 0;
  /** The store and a lane are as is wanted. */
  #isSettled = false;
  /** The newest lane; null before the first. */
  #lane: Lane | null = null;
  /** What the newest lane writes. */
  #files: readonly string[] = [];
  /** Lanes of earlier configurations that have not ended, and the files that they write. */
  readonly #leaving = new Map<Lane, readonly string[]>();
  #isClosed = false;
  #cancelRetry: CancelTimer = () => {};

  constructor(parts: SinkLaneParts) {
    this.#parts = parts;
  }

  /** From now on this is wanted: the lane of the configuration before begins nothing more. `settle` begins the new one. Null: the sink is removed. */
  want(config: SinkConfig | null): void {
    this.#wanted = config;
    this.#generation += 1;
    this.#isSettled = false;
    this.#leave();
  }

  /** Delivers by what is wanted, unless a file has to be waited for; drops a removed sink once nothing of it runs. Harmless if it is so already. */
  settle(): void {
    this.#cancelRetry();
    if (this.#isClosed || this.#isSettled) return;
    try {
      this.#isSettled = this.#wanted === null ? this.#drop() : this.#begin(this.#wanted);
    } catch (error) {
      this.#parts.logger.error(
        { reason: messageOf(error) },
        'the sink as it is configured now could not be stored: tried again in a second',
      );
      this.#cancelRetry = this.#parts.deps.after(RETRY_MS, () => this.settle());
    }
  }

  /** Lets running deliveries end, for so long at most, and gives up what is queued. Resolves when no delivery runs any more. */
  async remove(graceMs: number): Promise<void> {
    this.want(null);
    await Promise.all([...this.#leaving.keys()].map((lane) => lane.close(graceMs)));
    this.settle();
  }

  wake(): void {
    for (const lane of this.#lanes) lane.wake();
  }

  /** Of the newest lane, with the calls of those before. Null before it delivers for the first time. */
  status(): LaneStatus | null {
    const inFlight = [...this.#lanes].reduce((sum, lane) => sum + lane.status().inFlight, 0);
    return this.#lane && { ...this.#lane.status(), inFlight };
  }

  /** Resolves when the lanes of earlier configurations that write one of these files have ended their calls, which have 5 s for it; null if none does. */
  endingOf(files: readonly string[]): Promise<void> | null {
    const writers = [...this.#leaving].filter(([, written]) => written.some((file) => files.includes(file)));
    if (writers.length === 0) return null;
    return Promise.all(writers.map(([lane]) => lane.disposed(FILE_GRACE_MS))).then(() => {
      // Outcomes may still wait for the store: their files are free all the same.
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
    this.#files = filesOf(config);
    this.#lane.start();
    return true;
  }

  #heldKeys(): ReadonlySet<string> {
    if (this.#leaving.size === 0) return NO_KEYS;
    return new Set([...this.#leaving.keys()].flatMap((lane) => lane.busyKeys()));
  }
}

export function filesOf({ adapter, options, directory }: SinkConfig): readonly string[] {
  return adapter.filesOf?.(options, directory) ?? [];
}
