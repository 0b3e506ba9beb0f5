// Records of one machine → the lane of one sink with a queue in memory, until each is accepted.
import { pino } from 'pino';
import { Lane } from '../../../src/delivery/lane.ts';
import type { ManagedAdapter } from '../../../src/delivery/managed-adapter.ts';
import type { LaneStore } from '../../../src/delivery/outcome-writer.ts';
import type { Deps } from '../../../src/time/clock.ts';
import { MemoryLaneStore } from '../../virtual/memory-lane-store.ts';
import type { FleetRecord } from './replayed.ts';

export const SINK = 'fleet';
export const SILENT = pino({ level: 'silent' });

export class FleetSender {
  readonly lane: Lane;
  /** Calls of the adapter that failed. */
  failures = 0;
  readonly #store: MemoryLaneStore;
  readonly #waiting = new Map<number, PromiseWithResolvers<void>>();

  constructor(adapter: ManagedAdapter, deps: Deps) {
    this.#store = new MemoryLaneStore(deps.wallMs);
    this.lane = new Lane({
      ...{ name: SINK, adapter, store: this.#store, deps, logger: SILENT },
      settle: (...outcomes) => this.#settle(...outcomes),
      onAttempt: ({ outcome }) => {
        if (outcome !== 'accepted') this.failures += 1;
      },
    });
    this.lane.start();
  }

  /** Queues it, as its bridge does once it has stored it. @throws Error if it becomes a dead letter */
  send({ id, bytes }: FleetRecord): Promise<void> {
    const [key = '', change = ''] = id.split(':');
    const { seq } = this.#store.queue(SINK, key, { id, bytes, change });
    const waiting = Promise.withResolvers<void>();
    this.#waiting.set(seq, waiting);
    this.lane.wake();
    return waiting.promise;
  }

  readonly #settle: LaneStore['settle'] = (sink, settlements, ...rest) => {
    this.#store.settle(sink, settlements, ...rest);
    for (const settlement of settlements) {
      const waiting = this.#waiting.get(settlement.seq);
      if (settlement.result === 'accepted') waiting?.resolve();
      if (settlement.result === 'dead') waiting?.reject(new Error(`a record was given up: ${settlement.reason}`));
    }
  };
}
