// A sink's rows, its limits and its rate → calls that may begin, and the rows for them.

import type { Delivery } from '../../model/deliveries.ts';
import type { Queue } from '../../outbox/queue.ts';
import type { Deps } from '../../time/clock.ts';
import type { Hold } from '../circuit-breaker.ts';
import type { ManagedAdapter } from '../managed-adapter.ts';
import { RateLimiter } from './rate-limiter.ts';
import { ReadAhead } from './read-ahead.ts';
import type { RequestWindow } from './request-window.ts';

/** With so many requests to spend there is no need to choose. */
const PLENTY = 256;

export interface QueueReaderOptions {
  /** The sink's name. */
  readonly name: string;
  readonly adapter: ManagedAdapter;
  readonly store: Pick<Queue, 'queued' | 'queuedByUrgency'>;
  readonly requests: RequestWindow;
  readonly deps: Deps;
}

export class QueueReader {
  readonly rate: RateLimiter;
  readonly #options: QueueReaderOptions;
  readonly #readAhead: ReadAhead;

  constructor(options: QueueReaderOptions) {
    const { name, adapter, store, requests, deps } = options;
    this.#options = options;
    this.#readAhead = new ReadAhead((except, limit) => store.queued(name, except, limit));
    this.rate = new RateLimiter({ perMinute: () => adapter.limits.perMinute, requests, deps });
  }

  /** How many calls may begin beside `running` ones. What has to be prepared is prepared by one, and the others see what came of it. */
  slots(running: number): number {
    const { adapter } = this.#options;
    if (adapter.preparation?.isNeeded) return running === 0 ? 1 : 0;
    return Math.min(adapter.limits.inFlight - running, this.rate.free());
  }

  /** Rows of keys not named in `except`; where the rate is short, or may be once it is known, the most urgent ones first. */
  rows(except: readonly string[], limit: number): readonly Delivery[] {
    const { name, adapter, store } = this.#options;
    const isShort = adapter.limits.perMinute !== undefined && (adapter.preparation?.isNeeded || this.rate.free() < PLENTY);
    if (!isShort) return this.#readAhead.take(except, limit);
    this.#readAhead.forget();
    return store.queuedByUrgency(name, except, limit);
  }

  /** The store changed by other means than these rows' outcomes: they are read again. */
  forget(): void {
    this.#readAhead.forget();
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
}
