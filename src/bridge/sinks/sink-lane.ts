// A sink's configuration, and later another or none → its lane, one at a time.
import type { Logger } from 'pino';
import type { SinkConfig } from '../../config/config.ts';
import type { Lane } from '../../delivery/lane.ts';
import type { LaneStatus } from '../../delivery/lane-report.ts';
import { messageOf } from '../../errors.ts';
import type { CancelTimer, Deps } from '../../time/clock.ts';

const RETRY_MS = 1000;

export interface SinkLaneParts {
  /** Tells the store, then makes the lane. @throws BridgeError BRIDGE_STORE_* */
  readonly create: (config: SinkConfig) => Lane;
  /** Tells the store that the sink is gone. @throws BridgeError BRIDGE_STORE_* */
  readonly drop: () => void;
  /** What has to end before a lane of this configuration may begin: those of other sinks that still write its files. */
  readonly obstacles: (config: SinkConfig) => readonly Promise<void>[];
  readonly deps: Pick<Deps, 'after'>;
  /** Bound to the sink's name. */
  readonly logger: Logger;
}

/** Deliveries under way end under the configuration that they began with, so that none is repeated by the next. */
export class SinkLane {
  readonly #parts: SinkLaneParts;
  /** Null: removed. */
  #wanted: SinkConfig | null = null;
  #lane: Lane | null = null;
  #files: readonly string[] = [];
  #ending: Promise<void> | null = null;
  #isChanging = false;
  #isClosed = false;
  #cancelRetry: CancelTimer = () => {};

  constructor(parts: SinkLaneParts) {
    this.#parts = parts;
  }

  /** Delivers by this configuration: at once, or when what is under way by another one has ended. */
  take(config: SinkConfig): void {
    this.#wanted = config;
    void this.#change();
  }

  /** Lets running deliveries end, for so long at most, and gives up what is queued. Resolves when no delivery runs any more. */
  async remove(graceMs: number): Promise<void> {
    this.#wanted = null;
    const ended = this.#lane?.close(graceMs);
    await Promise.all([ended, this.#change()]);
  }

  wake(): void {
    this.#lane?.wake();
  }

  /** Null before it delivers for the first time. */
  status(): LaneStatus | null {
    return this.#lane?.status() ?? null;
  }

  /** Resolves when the lane that ends has ended, where it writes one of these files; else null. */
  endingOf(files: readonly string[]): Promise<void> | null {
    return this.#files.some((file) => files.includes(file)) ? this.#ending : null;
  }

  /** Lets running deliveries end, for so long at most. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    this.#cancelRetry();
    await this.#lane?.close(graceMs);
  }

  async #change(): Promise<void> {
    if (this.#isChanging) return;
    this.#isChanging = true;
    this.#ending = this.#lane?.close(null) ?? null;
    if (this.#ending !== null) await this.#ending;
    this.#ending = null;
    for (let before = this.#obstacles(); before.length > 0; before = this.#obstacles()) await Promise.all(before);
    this.#isChanging = false;
    this.#settle();
  }

  #obstacles(): readonly Promise<void>[] {
    return this.#wanted === null ? [] : this.#parts.obstacles(this.#wanted);
  }

  #settle(): void {
    this.#cancelRetry();
    if (this.#isClosed || this.#isChanging) return;
    try {
      if (this.#wanted === null) this.#parts.drop();
      else this.#begin(this.#wanted);
    } catch (error) {
      this.#parts.logger.error(
        { reason: messageOf(error) },
        'the sink as it is configured now could not be stored: tried again in a second',
      );
      this.#cancelRetry = this.#parts.deps.after(RETRY_MS, () => this.#settle());
    }
  }

  #begin(config: SinkConfig): void {
    this.#lane = this.#parts.create(config);
    this.#files = filesOf(config);
    this.#lane.start();
  }
}

export function filesOf({ adapter, options, directory }: SinkConfig): readonly string[] {
  return adapter.filesOf?.(options, directory) ?? [];
}
