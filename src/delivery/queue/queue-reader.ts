// A sink's rows, its limits and its rate → calls that may begin, and the rows for them.

import type { Delivery } from '../../model/deliveries.ts';
import type { Queue } from '../../outbox/queue.ts';
import type { Deps } from '../../time/clock.ts';
import type { Hold } from '../circuit-breaker.ts';
import type { ManagedAdapter } from '../managed-adapter.ts';
import { RateLimiter } from './rate-limiter.ts';
import { ReadAhead } from './read-ahead.ts';
import type { RequestWindow } from './request-window.ts';
import { UrgentRows } from './urgent-rows.ts';

/** With so many requests to spend there is no need to choose. */
const PLENTY = 256;
/** While an event waits for its two minutes: a clock that is set meanwhile is noticed so soon. */
const LOOK_MS = 30_000;

export interface QueueReaderOptions {
  /** The sink's name. */
  readonly name: string;
  readonly adapter: ManagedAdapter;
  readonly store: Pick<Queue, 'queued' | 'queuedOf' | 'queuedByUrgency' | 'urgent'>;
  readonly requests: RequestWindow;
  readonly deps: Deps;
}

export class QueueReader {
  readonly rate: RateLimiter;
  readonly #options: QueueReaderOptions;
  readonly #readAhead: ReadAhead;
  readonly #urgentRows: UrgentRows;

  constructor(options: QueueReaderOptions) {
    const { name, adapter, store, requests, deps } = options;
    this.#options = options;
    this.#readAhead = new ReadAhead((except, limit) => store.queued(name, except, limit));
    this.#urgentRows = new UrgentRows((keys, limit) => store.queuedOf(name, keys, limit));
    this.rate = new RateLimiter({ perMinute: () => adapter.limits.perMinute, requests, deps });
  }

  /** How many calls may begin beside `running` ones. What has to be prepared is prepared by one, and the others see what came of it. */
  slots(running: number): number {
    return this.#slots(running, this.#options.adapter.limits.inFlight);
  }

  /** The same for urgent rows, which have places of their own besides. */
  urgentSlots(running: number): number {
    const { inFlight, urgentInFlight = 0 } = this.#options.adapter.limits;
    return this.#slots(running, inFlight + urgentInFlight);
  }

  /** Rows of keys not named in `except`; where the rate is short, or may be once it is known, the most urgent ones first. */
  rows(except: readonly string[], limit: number): readonly Delivery[] {
    const { name, adapter, store } = this.#options;
    const isShort = adapter.limits.perMinute !== undefined && (adapter.preparation?.isNeeded || this.rate.free() < PLENTY);
    if (!isShort) return this.#readAhead.take(except, limit);
    this.#readAhead.forget();
    return store.queuedByUrgency(name, except, limit);
  }

  /** Rows of urgent events, the most urgent first, of keys not named in `except`, which is asked for only if there may be such rows. */
  urgentRows(except: () => readonly string[], limit: number): readonly Delivery[] {
    const { keys } = this.#options.store.urgent();
    if (keys.length === 0) return [];
    const rows = this.#urgentRows.take(keys, except(), limit);
    this.#readAhead.drop(rows.map(({ partitionKey }) => partitionKey));
    return rows;
  }

  /** Whether the next row of the key may come before those of others: it is urgent, or the rate is to be spent on the most urgent. */
  isChosen(key: string): boolean {
    return this.rate.perMinute !== null || this.isUrgent(key);
  }

  /** Whether the key is of an urgent event. */
  isUrgent(key: string): boolean {
    const { keys } = this.#options.store.urgent();
    return keys.length > 0 && this.#urgentRows.has(keys, key);
  }

  /** Whether an urgent row waits and every place is taken. A store that cannot be read now is reported where rows are fetched. */
  lacksPlace(running: number, except: () => readonly string[]): boolean {
    try {
      return this.urgentSlots(running) <= 0 && this.urgentRows(except, 1).length > 0;
    } catch {
      return false;
    }
  }

  /** When (elapsed time) to look whether another event has become urgent; null if none will. Only of use where that finds it a place. */
  nextUrgentMs(): number | null {
    const { adapter, store, deps } = this.#options;
    const { nextMs } = store.urgent();
    if (nextMs === null || !adapter.limits.urgentInFlight) return null;
    return deps.elapsedMs() + Math.min(Math.max(0, nextMs - deps.wallMs()), LOOK_MS);
  }

  /** The store changed by other means than these rows' outcomes: they are read again. */
  forget(): void {
    this.#readAhead.forget();
    this.#urgentRows.forget();
  }

  /** What keeps rows waiting that could go, keys of `except` aside, if it is the rate alone; null where it is not. */
  shortage(except: readonly string[]): Hold | null {
    const { name, adapter, store } = this.#options;
    const { perMinute } = this.rate;
    if (perMinute === null || adapter.preparation?.isNeeded || this.rate.free() >= 1) return null;
    if (store.queued(name, except, 1).length === 0) return null;
    const requests = perMinute === 1 ? '1 request' : `${perMinute} requests`;
    return { reason: `its rate of ${requests} a minute is used up; the most urgent goes first`, untilMs: this.rate.nextMs() };
  }

  #slots(running: number, places: number): number {
    if (this.#options.adapter.preparation?.isNeeded) return running === 0 ? 1 : 0;
    return Math.min(places - running, this.rate.free());
  }
}
