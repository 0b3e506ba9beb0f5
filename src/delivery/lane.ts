// Rows of one sink → adapter calls, in order for each key, until accepted or dead (behaviour 5.1).
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import type { Delivery, RunningWork } from '../model/deliveries.ts';
import { backoffMs } from '../time/backoff.ts';
import type { CancelTimer, Deps } from '../time/clock.ts';
import { Calls } from './calls.ts';
import { LaneEnd } from './lane-end.ts';
import { type AttemptReport, LaneReport, type LaneStatus } from './lane-report.ts';
import { INITIAL, released, resumed, rowsQueued, type StateHolder } from './lane-state.ts';
import type { ManagedAdapter } from './managed-adapter.ts';
import { moment } from './moment.ts';
import { type Hold, next, shown } from './next.ts';
import { type LaneStore, OutcomeWriter } from './outcome-writer.ts';
import { QueueReader } from './queue-reader.ts';
import { RequestWindow } from './rate-limiter.ts';
import { Unattempted } from './unattempted.ts';

const DAY_MS = 86_400_000;
const NO_KEYS: ReadonlySet<string> = new Set();

export interface LaneOptions {
  /** The sink's name in the configuration. */
  readonly name: string;
  readonly adapter: ManagedAdapter;
  readonly store: LaneStore;
  /** Stores outcomes in place of the store, for a sink whose accepted deliveries approve (behaviour 10.5). */
  readonly settle?: LaneStore['settle'] | undefined;
  /** Age from queueing at which a failed delivery is given up; 24 h by default. */
  readonly retry?: { readonly maxAgeMs?: number };
  /** Whether a delivery is over if its event has changed, started or ended since (behaviour 10.4). */
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
 * A key is in one call at a time, and free again once the outcomes of its rows are stored. If an adapter accepts a
 * later member of a key although an earlier one of the same call failed, the later one counts: the other side has it.
 * Adapters of brokers send none behind a failed one. Holds no rows but those of running calls and some that come next;
 * without queued rows it has no timer and does nothing.
 */
export class Lane implements AsyncDisposable {
  readonly #options: LaneOptions;
  readonly #report: LaneReport;
  readonly #writer: OutcomeWriter;
  readonly #queue: QueueReader;
  readonly #unattempted: Unattempted;
  readonly #calls: Calls;
  readonly #end: LaneEnd;
  readonly #lane: StateHolder = { state: INITIAL };
  #isStarted = false;
  #isWoken = false;
  /** An operator may have paused or resumed the sink since the store was read. */
  #isPauseStale = true;
  #isRetirementRead = false;
  #readFailures = 0;
  #cancelTimer: CancelTimer | null = null;
  #onIdle: () => void = () => {};

  constructor(options: LaneOptions) {
    const {
      name,
      adapter,
      store,
      deps,
      logger,
      onAttempt,
      onState,
      cancels = false,
      heldKeys = () => NO_KEYS,
    } = options;
    const lane = this.#lane;
    this.#options = options;
    const settle: LaneStore['settle'] = options.settle ?? ((...outcomes) => store.settle(...outcomes));
    const report = new LaneReport({ logger, onAttempt, onState });
    const writer = new OutcomeWriter({ sink: name, store, settle, deps, logger, onWritten: this.#step });
    const requests = options.requests ?? new RequestWindow({ name, store, deps, logger });
    const isFull = () => writer.isFull(adapter.limits.batch);
    const queue = new QueueReader({ name, adapter, store, requests, deps, heldKeys, isFull });
    const end = new LaneEnd({
      ...{ adapter, writer, report, deps },
      onBegun: () => this.#cancelTimer?.(),
      callsEnded: () => this.#callsEnded(),
      onQuiet: () => queue.rate.save(),
    });
    const oldestMs = () => store.nowMs() - (options.retry?.maxAgeMs ?? DAY_MS);
    this.#unattempted = new Unattempted({ name, store, lane, queue, writer, report, cancels, oldestMs });
    this.#calls = new Calls({ name, adapter, lane, queue, writer, report, end, deps, oldestMs });
    this.#report = report;
    this.#writer = writer;
    this.#queue = queue;
    this.#end = end;
  }

  /** Begins to deliver, unless the store says that the sink is retired. */
  start(): void {
    this.#isStarted = true;
    void this.#options.adapter.start?.();
    this.wake();
  }

  /** New rows are queued, or another process changed the store. Calls in one turn count as one. */
  wake(): void {
    if (!this.#isStarted || this.#isWoken) return;
    this.#isWoken = true;
    queueMicrotask(this.#awake);
  }

  status(): LaneStatus {
    return this.#report.status(this.#lane.state.calls);
  }

  running(): readonly RunningWork[] {
    return this.#options.adapter.running?.() ?? [];
  }

  /** Keys in a call, or whose outcome is not stored yet. */
  busyKeys(): readonly string[] {
    return [...this.#lane.state.busy];
  }

  /**
   * Begins nothing more, lets running calls end for `graceMs`, aborts them, then disposes the adapter. Never rejects.
   * If it is called again, the grace that ends first counts.
   */
  close(graceMs = 10_000): Promise<void> {
    return this.#end.close(graceMs);
  }

  /**
   * The sink is configured otherwise now: begins nothing more. Running calls may take as long as they take; their
   * outcomes count for their rows, and for nothing else. Resolves once they are stored and the adapter is disposed, or
   * at the end of `close`. Never rejects. `onReleased` is called when keys of theirs are free.
   */
  leave(onReleased: () => void): Promise<void> {
    return this.#end.leave(onReleased);
  }

  /**
   * After `leave`: gives running calls `graceMs`, then aborts them. Resolves once none runs and the adapter is
   * disposed.
   */
  disposed(graceMs: number): Promise<void> {
    return this.#end.disposed(graceMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #awake = (): void => {
    this.#isWoken = false;
    this.#writer.hurry();
    this.#unattempted.invalidate();
    if (this.#end.hasBegun) {
      this.#endSuperseded();
      return;
    }
    this.#queue.invalidate();
    this.#isPauseStale = true;
    this.#lane.state = rowsQueued(this.#lane.state, moment(this.#options.deps));
    this.#step();
  };

  /** Does all that can be done now, and sets the timer for what can be done later. */
  readonly #step = (): void => {
    if (this.#end.hasBegun) return;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    const now = moment(this.#options.deps);
    let untilMs: number | null;
    let hold: Hold | null = null;
    try {
      this.#readRetirement();
      this.#readPause();
      this.#unattempted.supersede();
      let step = next(this.#lane.state, now, this.#queue);
      for (; step.kind === 'send' || step.kind === 'probe'; step = next(this.#lane.state, now, this.#queue)) {
        this.#lane.state = step.state;
        for (const batch of step.batches) this.#begin(batch, step.kind === 'probe');
      }
      this.#lane.state = step.state;
      if (step.kind === 'wait' && step.hold !== undefined)
        this.#report.short(step.hold !== null, this.#queue.rate.perMinute);
      hold = (step.kind === 'wait' && step.hold) || null;
      untilMs = step.kind === 'wait' ? step.untilMs : this.#unattempted.expire(now);
      this.#readFailures = 0;
    } catch (error) {
      this.#readFailures += 1;
      this.#report.unreadable(messageOf(error), this.#readFailures);
      untilMs =
        now.elapsedMs +
        backoffMs({ failures: this.#readFailures, disposition: 'retry', longEnded: false }, now.chance.sink);
    }
    if (untilMs !== null) this.#cancelTimer = this.#options.deps.after(untilMs - now.elapsedMs, this.#step);
    this.#report.update(shown(this.#lane.state, now.elapsedMs, hold), now, this.#lane.state.calls);
  };

  #begin(batch: readonly Delivery[], isProbe: boolean): void {
    this.#queue.sent(batch);
    void this.#calls.deliver(batch, isProbe, this.#unattempted.begin(batch)).then(() => this.#ended(batch));
  }

  #ended(batch: readonly Delivery[]): void {
    this.#lane.state = { ...this.#lane.state, calls: this.#lane.state.calls - 1 };
    this.#unattempted.end(batch);
    this.#writer.add([], () => this.#release(batch));
    if (this.#lane.state.calls === 0) this.#onIdle();
    if (!batch.some(({ partitionKey }) => this.#queue.isChosen(partitionKey))) {
      this.#step();
      return;
    }
    // After the outcomes that arrived with it are stored: these keys are free then, and may be more urgent than those
    // that wait.
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.deps.after(0, this.#step);
  }

  #release(rows: readonly Delivery[]): void {
    this.#lane.state = released(this.#lane.state, rows);
    this.#end.released();
  }

  #callsEnded(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#lane.state.calls === 0) resolve();
    });
  }

  /** Somebody may have paused or resumed the sink. @throws BridgeError BRIDGE_STORE_* */
  #readPause(): void {
    if (this.#isPauseStale)
      this.#lane.state = { ...this.#lane.state, pause: this.#options.store.record(this.#options.name).pause };
    this.#isPauseStale = false;
  }

  /**
   * At the start the store says whether the sink is retired; later, whether it still is: another process may have
   * lifted it.
   */
  #readRetirement(): void {
    const { retired } = this.#lane.state;
    const canResume = retired !== null && !retired.untilRestart && !this.#writer.isRetiring;
    if (this.#isRetirementRead && !canResume) return;
    const retirement = this.#options.store.retirement(this.#options.name);
    if (!this.#isRetirementRead && retirement) {
      this.#lane.state = { ...this.#lane.state, retired: { reason: retirement.reason, untilRestart: false } };
      this.#report.foundRetired(retirement);
    }
    if (this.#isRetirementRead && !retirement) {
      this.#lane.state = resumed(this.#lane.state);
      this.#report.resumed();
    }
    this.#isRetirementRead = true;
  }

  /** What still runs in a lane that ends may take its time: not longer than its event needs it. */
  #endSuperseded(): void {
    try {
      if (this.#lane.state.calls > 0) this.#unattempted.endRunning();
    } catch (error) {
      this.#report.unreadable(messageOf(error), 1);
    }
  }
}
