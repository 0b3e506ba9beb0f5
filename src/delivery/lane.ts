// Rows of one sink → adapter calls, in order for each key, until accepted or dead (behaviour 5.1).

import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import type { Delivery } from '../model/deliveries.ts';
import type { CancelTimer, Deps } from '../time/clock.ts';
import { backoffMs, type Moment, URGENT_CAP_MS } from './backoff.ts';
import { Calls } from './calls.ts';
import type { Hold } from './circuit-breaker.ts';
import { Dispatcher } from './dispatcher.ts';
import { fillPlaces } from './fill.ts';
import { LaneEnd } from './lane-end.ts';
import { type AttemptReport, LaneReport, type LaneStatus } from './lane-report.ts';
import type { LaneStore } from './lane-store.ts';
import type { ManagedAdapter } from './managed-adapter.ts';
import { OutcomeWriter } from './outcome-writer.ts';
import { PauseWatch } from './pause-watch.ts';
import { nextProbe } from './probe.ts';
import { QueueReader } from './queue/queue-reader.ts';
import { RequestWindow } from './queue/request-window.ts';
import { Unattempted } from './unattempted.ts';

const DAY_MS = 86_400_000;
const NO_KEYS: ReadonlySet<string> = new Set();

export interface LaneOptions {
  /** The sink's name in the configuration. */
  readonly name: string;
  readonly adapter: ManagedAdapter;
  readonly store: LaneStore;
  /** Age from queueing at which a failed delivery is given up; 24 h by default. */
  readonly retry?: { readonly maxAgeMs?: number };
  /** Whether a delivery is over where its event has changed, started or ended since (behaviour 10.4). */
  readonly cancels?: boolean;
  /** Keys that lanes of earlier configurations still have in a call: their next rows wait here. None by default. */
  readonly heldKeys?: () => ReadonlySet<string>;
  /** Of the sink, whatever its configuration. One of the lane's own by default. */
  readonly requests?: RequestWindow;
  readonly deps: Deps;
  /** Already bound to the sink's name. */
  readonly logger: Logger;
  /** Once for each call and kind of outcome in it. */
  readonly onAttempt?: (report: AttemptReport) => void;
  /** At each change of state or reason. */
  readonly onState?: (status: LaneStatus) => void;
}

/**
 * Delivers at least once, to one sink, independently of all others (behaviour 5.1).
 *
 * A key is in one call at a time, and free again once what became of its rows is stored. If an adapter accepts a later member of a key
 * though an earlier one of the same call failed, the later one counts: the other side has it. Adapters of brokers send none behind a failed one.
 * Holds no rows but those of running calls and some that come next; without queued rows it has no timer and does nothing.
 */
export class Lane implements AsyncDisposable {
  readonly #options: LaneOptions;
  readonly #report: LaneReport;
  readonly #settlements: OutcomeWriter;
  readonly #supply: QueueReader;
  readonly #dispatcher: Dispatcher;
  readonly #unattempted: Unattempted;
  readonly #pause: PauseWatch;
  readonly #calls: Calls;
  readonly #end: LaneEnd;
  #started = false;
  #woken = false;
  #knowsRetirement = false;
  #readFailures = 0;
  #hold: Hold | null = null;
  #cancelTimer: CancelTimer | null = null;

  constructor(options: LaneOptions) {
    const { name, adapter, store, deps, logger, onAttempt, onState, cancels = false, heldKeys = () => NO_KEYS } = options;
    this.#options = options;
    this.#report = new LaneReport({ logger, onAttempt, onState });
    this.#pause = new PauseWatch(name, store);
    this.#settlements = new OutcomeWriter({ sink: name, store, deps, logger, onWritten: () => this.#pump() });
    const requests = options.requests ?? new RequestWindow({ name, store, deps, logger });
    this.#supply = new QueueReader({ name, adapter, store, requests, deps });
    const oldestMs = () => store.nowMs() - (options.retry?.maxAgeMs ?? DAY_MS);
    const own = { name, oldestMs, settlements: this.#settlements, report: this.#report };
    this.#end = new LaneEnd({
      ...{ adapter, settlements: this.#settlements, report: this.#report, deps },
      onBegun: () => this.#cancelTimer?.(),
      callsEnded: () => this.#calls.ended(),
      onQuiet: () => this.#supply.rate.save(),
    });
    const open = { isOpen: () => !this.#end.hasBegun && !this.#pause.isPaused, hasLeft: () => this.#end.hasLeft, signal: this.#end.signal };
    const blocked = () => this.#dispatcher.keys.blocked(deps.elapsedMs());
    const urgent = {
      isUrgent: (key: string) => this.#supply.isUrgent(key),
      mustYield: () => this.#supply.lacksPlace(this.#calls.count, blocked),
    };
    this.#dispatcher = new Dispatcher({ ...own, ...open, ...urgent, heldKeys, adapter, deps, rate: this.#supply.rate });
    this.#unattempted = new Unattempted({ ...own, store, cancels, keys: this.#dispatcher.keys });
    const calls = { dispatcher: this.#dispatcher, unattempted: this.#unattempted, settlements: this.#settlements };
    const isChosen = ({ partitionKey }: Delivery) => this.#supply.isChosen(partitionKey);
    const onEnded = (batch: readonly Delivery[]) => (batch.some(isChosen) ? this.#pumpSoon() : this.#pump());
    this.#calls = new Calls({ ...calls, onEnded, onReleased: () => this.#end.released() });
  }

  /** Begins to deliver, unless the store says that the sink is retired. */
  start(): void {
    this.#started = true;
    void this.#options.adapter.start?.();
    this.wake();
  }

  /** New rows are queued, or another process changed the store. Calls in one turn count as one. */
  wake(): void {
    if (!this.#started || this.#woken) return;
    this.#woken = true;
    queueMicrotask(() => {
      this.#woken = false;
      this.#settlements.hurry();
      this.#unattempted.forget();
      if (this.#end.hasBegun) return this.#endOvertaken();
      this.#supply.forget();
      this.#pause.forget();
      this.#dispatcher.breaker.probeSooner(this.#dispatcher.now());
      this.#pump();
    });
  }

  status(): LaneStatus {
    return this.#report.status(this.#calls.count);
  }

  /** Keys in a call, or whose outcome is not stored yet. */
  busyKeys(): readonly string[] {
    return this.#dispatcher.keys.busy();
  }

  /**
   * Begins nothing more, lets running calls end for `graceMs`, aborts them, then disposes the adapter. Never rejects. If it is called again,
   * the grace that ends first counts.
   */
  close(graceMs = 10_000): Promise<void> {
    return this.#end.close(graceMs);
  }

  /**
   * The sink is configured otherwise now: begins nothing more. Running calls may take as long as they take; what they say counts for their
   * rows, and for nothing else. Resolves once that is stored and the adapter disposed, or at the end of `close`. Never rejects.
   * `onReleased` is called when keys of theirs are free.
   */
  leave(onReleased: () => void): Promise<void> {
    return this.#end.leave(onReleased);
  }

  /** After `leave`: gives running calls `graceMs`, then aborts them. Resolves once none runs and the adapter is disposed. */
  disposed(graceMs: number): Promise<void> {
    return this.#end.disposed(graceMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What still runs in a lane that ends may take its time: not longer than its event needs it. */
  #endOvertaken(): void {
    try {
      if (this.#calls.count > 0) this.#unattempted.endRunning();
    } catch (error) {
      this.#report.unreadable(messageOf(error), 1);
    }
  }

  /** After what arrived with it is stored: these keys are free then, and may be more urgent than those that wait. */
  #pumpSoon(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.deps.after(0, () => this.#pump());
  }

  /** Does all that can be done now, and sets the timer for what can be done later. */
  #pump(): void {
    if (this.#end.hasBegun) return;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    const now = this.#dispatcher.now();
    const nextMs = this.#step(now);
    if (nextMs !== null) this.#cancelTimer = this.#options.deps.after(nextMs - now.elapsedMs, () => this.#pump());
    const state = this.#pause.state ?? this.#dispatcher.breaker.state(now.elapsedMs, this.#dispatcher.keys.failing, this.#hold);
    this.#report.update(state, now, this.#calls.count);
  }

  /** @returns when (elapsed time) there is more to do, by the clock alone; null if never. */
  #step(now: Moment): number | null {
    try {
      this.#readRetirement();
      this.#pause.read();
      const nextMs = this.#deliverOrWait(now);
      this.#readFailures = 0;
      return nextMs;
    } catch (error) {
      this.#readFailures += 1;
      this.#report.unreadable(messageOf(error), this.#readFailures);
      return now.elapsedMs + backoffMs({ failures: this.#readFailures, disposition: 'retry', longEnded: false }, now.random);
    }
  }

  #deliverOrWait(now: Moment): number | null {
    this.#hold = null;
    if (this.#unattempted.supersede()) this.#supply.forget();
    // Nothing expires meanwhile: a row is given up after a failed attempt alone.
    if (this.#pause.isPaused) return null;
    const { breaker, keys } = this.#dispatcher;
    if (breaker.isRetired) {
      this.#supply.forget();
      return this.#unattempted.expire(now);
    }
    if (breaker.isOpen && this.#supply.urgentRows(() => keys.busy(), 1).length > 0) breaker.probeWithin(URGENT_CAP_MS, now);
    if (now.elapsedMs < breaker.blockedUntilMs) return breaker.blockedUntilMs;
    if (this.#settlements.isFull(this.#options.adapter.limits.batch)) return null;
    if (!breaker.isOpen) return this.#fill(now);
    this.#hold = this.#supply.shortage([]);
    return this.#hold ? this.#hold.untilMs : this.#probe(now);
  }

  /** At the start the store says whether the sink is retired; later, whether it still is: another process may have lifted it. */
  #readRetirement(): void {
    const { breaker } = this.#dispatcher;
    if (this.#knowsRetirement && (!breaker.canResume || this.#settlements.isRetiring)) return;
    const retirement = this.#options.store.retirement(this.#options.name);
    if (!this.#knowsRetirement && retirement) {
      breaker.retire(retirement.reason, false);
      this.#report.foundRetired(retirement);
    }
    if (this.#knowsRetirement && !retirement) this.#dispatcher.resume();
    this.#knowsRetirement = true;
  }

  #fill(now: Moment): number | null {
    const { keys } = this.#dispatcher;
    const parts = { dispatcher: this.#dispatcher, supply: this.#supply, calls: this.#calls };
    fillPlaces({ ...parts, limits: this.#options.adapter.limits }, now);
    this.#hold = this.#supply.shortage(keys.blocked(now.elapsedMs));
    this.#report.short(this.#hold !== null, this.#supply.rate.perMinute);
    const urgentMs = this.#supply.slots(this.#calls.count) > 0 ? null : this.#supply.nextUrgentMs();
    const times = [keys.nextDueMs(now.elapsedMs), this.#hold?.untilMs ?? null, urgentMs].filter((time) => time !== null);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** One delivery at a time, whose end comes back here. */
  #probe(now: Moment): number | null {
    const row = this.#calls.count > 0 ? null : nextProbe(this.#dispatcher, this.#supply, now);
    if (row) this.#calls.begin([row], true);
    return null;
  }
}
