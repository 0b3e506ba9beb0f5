// A sink's rows, its limits and its rate → the rows that may go now, and how many calls may begin.
import type { Delivery } from '../model/deliveries.ts';
import type { Queue } from '../outbox/queue.ts';
import type { Deps } from '../time/clock.ts';
import type { ManagedAdapter } from './managed-adapter.ts';
import type { Moment } from './moment.ts';
import type { Hold, QueueView } from './next.ts';
import { RateLimiter, type RequestWindow } from './rate-limiter.ts';

/** With so many requests left there is no need to choose. */
const PLENTY = 256;
/** A clock that is set while an event waits for its two minutes is noticed so soon. */
const LOOK_MS = 30_000;
/** Rows are read in blocks of so many. Each has a CloudEvent's bytes, some KB at most. */
const AHEAD = 32;
/** The store is asked for so many urgent keys at once. */
const MOST_KEYS = 256;
/** An event that ended this long ago is not urgent any more: the cap of back-off rises from 10 s to 5 min. */
const LONG_ENDED_MS = 600_000;
const MOST_REMEMBERED = 2000;

interface QueueReaderOptions {
  /** The sink's name. */
  readonly name: string;
  readonly adapter: ManagedAdapter;
  readonly store: Pick<Queue, 'queued' | 'queuedOf' | 'queuedByUrgency' | 'urgent'>;
  readonly requests: RequestWindow;
  readonly deps: Deps;
  readonly heldKeys: () => ReadonlySet<string>;
  readonly isFull: () => boolean;
}

export class QueueReader implements QueueView {
  readonly rate: RateLimiter;
  readonly heldKeys: () => ReadonlySet<string>;
  readonly isFull: () => boolean;
  readonly #options: QueueReaderOptions;
  readonly #readAhead: ReadAhead;
  readonly #urgentRows: UrgentRows;
  /** From when on (elapsed time) the event of a row counts as ended long ago, by row. */
  readonly #longEndedMs = new Map<number, number>();

  constructor(options: QueueReaderOptions) {
    const { name, adapter, store, requests, deps } = options;
    this.#options = options;
    this.heldKeys = options.heldKeys;
    this.isFull = options.isFull;
    this.#readAhead = new ReadAhead((except, limit) => store.queued(name, except, limit));
    this.#urgentRows = new UrgentRows((keys, limit) => store.queuedOf(name, keys, limit));
    this.rate = new RateLimiter({ perMinute: () => adapter.limits.perMinute, requests, deps });
  }

  get limits(): QueueView['limits'] {
    return this.#options.adapter.limits;
  }

  /** An adapter that has to be prepared is prepared by one call; the others wait for its result. */
  places(running: number): number {
    return this.#places(running, this.#options.adapter.limits.inFlight);
  }

  /** Urgent rows have extra places. */
  urgentPlaces(running: number): number {
    const { inFlight, urgentInFlight = 0 } = this.#options.adapter.limits;
    return this.#places(running, inFlight + urgentInFlight);
  }

  rows(except: readonly string[], limit: number): readonly Delivery[] {
    const { name, adapter, store } = this.#options;
    const isShort =
      adapter.limits.perMinute !== undefined && (adapter.preparation?.isNeeded || this.rate.free() < PLENTY);
    if (!isShort) return this.#readAhead.rows(except, limit);
    this.#readAhead.invalidate();
    return store.queuedByUrgency(name, except, limit);
  }

  urgentRows(except: () => readonly string[], limit: number): readonly Delivery[] {
    const { keys } = this.#options.store.urgent();
    return keys.length === 0 ? [] : this.#urgentRows.rows(keys, except(), limit);
  }

  /**
   * Whether the next row of the key may come before those of others: it is urgent, or the rate is to be spent on the
   * most urgent.
   */
  isChosen(key: string): boolean {
    return this.rate.perMinute !== null || this.isUrgent(key);
  }

  isUrgent(key: string): boolean {
    const { keys } = this.#options.store.urgent();
    return keys.length > 0 && this.#urgentRows.has(keys, key);
  }

  /**
   * Whether an urgent row waits and every place is taken. A store that cannot be read now is reported when rows are
   * fetched.
   */
  lacksPlace(running: number, except: () => readonly string[]): boolean {
    try {
      return this.urgentPlaces(running) <= 0 && this.urgentRows(except, 1).length > 0;
    } catch {
      return false;
    }
  }

  /** Null also if the sink has no extra places: only they are of use then. */
  nextUrgentMs(): number | null {
    const { adapter, store, deps } = this.#options;
    const { nextMs } = store.urgent();
    if (nextMs === null || !adapter.limits.urgentInFlight) return null;
    return deps.elapsedMs() + Math.min(Math.max(0, nextMs - deps.wallMs()), LOOK_MS);
  }

  hold(except: () => readonly string[]): Hold | null {
    const { name, adapter, store } = this.#options;
    const { perMinute } = this.rate;
    if (perMinute === null || adapter.preparation?.isNeeded || this.rate.free() >= 1) return null;
    if (store.queued(name, except(), 1).length === 0) return null;
    const requests = perMinute === 1 ? '1 request' : `${perMinute} requests`;
    return {
      reason: `its rate of ${requests} a minute is used up; the most urgent goes first`,
      untilMs: this.rate.nextMs(),
    };
  }

  /** By the wall clock at the first look, by elapsed time from then on: a clock that jumps changes nothing. */
  isLongEnded({ seq, endedAtMs }: Delivery, { elapsedMs, wallMs }: Moment): boolean {
    if (endedAtMs === null) return false;
    const fromMs = this.#longEndedMs.get(seq) ?? elapsedMs + endedAtMs + LONG_ENDED_MS - wallMs;
    this.#longEndedMs.set(seq, fromMs);
    const [oldest = seq] = this.#longEndedMs.keys();
    if (this.#longEndedMs.size > MOST_REMEMBERED) this.#longEndedMs.delete(oldest);
    return elapsedMs >= fromMs;
  }

  /** These rows are sent, or end without a call. */
  sent(rows: readonly Pick<Delivery, 'partitionKey'>[]): void {
    const keys = new Set(rows.map(({ partitionKey }) => partitionKey));
    this.#readAhead.drop(keys);
    this.#urgentRows.drop(keys);
  }

  /** The store changed by other means than these rows' outcomes: they are read again. */
  invalidate(): void {
    this.#readAhead.invalidate();
    this.#urgentRows.invalidate();
  }

  #places(running: number, places: number): number {
    if (this.#options.adapter.preparation?.isNeeded) return running === 0 ? 1 : 0;
    return Math.min(places - running, this.rate.free());
  }
}

/**
 * Rows that were read in blocks. The result of a row decides if the next one of its key may follow: that one is read
 * again then.
 */
export class ReadAhead {
  readonly #read: (except: readonly string[], limit: number) => readonly Delivery[];
  /** No row of a key that had one sent since they were read. */
  #rows: readonly Delivery[] = [];
  /** Null: the store may have more. Else it has none but those of these keys. */
  #unread: Set<string> | null = null;

  /** `read` gives rows in queue order, of keys not named in `except`. */
  constructor(read: (except: readonly string[], limit: number) => readonly Delivery[]) {
    this.#read = read;
  }

  /**
   * Rows of keys not named in `except`, in queue order within each key; less than `limit` only if the store has no
   * more. Between keys the order is that of the queue, except for those that were not free when the store was read.
   */
  rows(except: readonly string[], limit: number): readonly Delivery[] {
    const blocked = new Set(except);
    const free = this.#rows.filter(({ partitionKey }) => !blocked.has(partitionKey));
    if (free.length >= limit || this.#hasAll(blocked)) return free.slice(0, limit);
    const most = Math.max(limit, AHEAD);
    this.#rows = this.#read(except, most);
    this.#unread = this.#rows.length < most ? blocked : null;
    return this.#rows.slice(0, limit);
  }

  drop(keys: ReadonlySet<string>): void {
    this.#rows = this.#rows.filter(({ partitionKey }) => !keys.has(partitionKey));
    for (const key of keys) this.#unread?.add(key);
  }

  /** The store changed by other means than the outcomes of these rows. */
  invalidate(): void {
    this.#rows = [];
    this.#unread = null;
  }

  #hasAll(blocked: ReadonlySet<string>): boolean {
    if (this.#unread === null || this.#unread.size > blocked.size) return false;
    for (const key of this.#unread) if (!blocked.has(key)) return false;
    return true;
  }
}

/** Rows of events with little notice, read only if there may be some. */
export class UrgentRows {
  readonly #read: (keys: readonly string[], limit: number) => readonly Delivery[];
  readonly #readAhead = new ReadAhead((except, limit) => this.#rowsOf(except, limit));
  #keys: readonly string[] = [];
  #isUrgent: ReadonlySet<string> = new Set();
  /** Keys of which nothing was queued when the store was read. */
  readonly #empty = new Set<string>();

  /** `read` gives rows of these keys, in the keys' order, each key's in queue order. */
  constructor(read: (keys: readonly string[], limit: number) => readonly Delivery[]) {
    this.#read = read;
  }

  /**
   * Rows of `keys` that are not named in `except`, by the order of `keys`; at most `limit`.
   * @throws BridgeError BRIDGE_STORE_*
   */
  rows(keys: readonly string[], except: readonly string[], limit: number): readonly Delivery[] {
    this.#use(keys);
    return this.#readAhead.rows(except, limit);
  }

  /** Whether the key is one of `keys`, in constant time as long as these are the same. */
  has(keys: readonly string[], key: string): boolean {
    this.#use(keys);
    return this.#isUrgent.has(key);
  }

  drop(keys: ReadonlySet<string>): void {
    this.#readAhead.drop(keys);
  }

  /** New rows may be queued. */
  invalidate(): void {
    this.#readAhead.invalidate();
    this.#empty.clear();
  }

  #use(keys: readonly string[]): void {
    if (keys === this.#keys) return;
    this.#readAhead.invalidate();
    this.#keys = keys;
    this.#isUrgent = new Set(keys);
  }

  #rowsOf(except: readonly string[], limit: number): readonly Delivery[] {
    const blocked = new Set(except);
    const rows: Delivery[] = [];
    const wanted = this.#keys.filter((key) => !this.#empty.has(key) && !blocked.has(key));
    for (let from = 0; from < wanted.length && rows.length < limit; from += MOST_KEYS) {
      const keys = wanted.slice(from, from + MOST_KEYS);
      const found = this.#read(keys, limit - rows.length);
      const isWhole = found.length < limit - rows.length;
      rows.push(...found);
      if (!isWhole) break;
      const here = new Set(found.map(({ partitionKey }) => partitionKey));
      for (const key of keys) if (!here.has(key)) this.#empty.add(key);
    }
    return rows;
  }
}
