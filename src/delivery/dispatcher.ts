// One batch of a lane → adapter calls, and what their outcomes mean for rows, keys and sink.

import type { Outcome } from '../../adapters/adapter.ts';
import type { BridgeError } from '../errors.ts';
import type { Delivery } from '../model/deliveries.ts';
import type { Deps } from '../time/clock.ts';
import { attempt, prepare } from './attempt.ts';
import { LongEnded, type Moment, URGENT_CAP_MS } from './backoff.ts';
import { halves } from './batch.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { KeyBackoff, MOST_FAILING_KEYS } from './key-backoff.ts';
import type { LaneReport } from './lane-report.ts';
import type { ManagedAdapter } from './managed-adapter.ts';
import type { OutcomeWriter } from './outcome-writer.ts';
import type { RateLimiter } from './queue/rate-limiter.ts';
import { isFailure, isTaken, judge, type Verdict } from './verdict.ts';

export interface DispatcherOptions {
  /** The sink's name. */
  readonly name: string;
  readonly adapter: ManagedAdapter;
  /** What was queued then, or before, is too old; in the store's time. */
  readonly oldestMs: () => number;
  readonly deps: Deps;
  readonly settlements: OutcomeWriter;
  readonly report: LaneReport;
  readonly rate: RateLimiter;
  /** Aborts what is running. */
  readonly signal: AbortSignal;
  /** Whether calls may still begin. */
  readonly isOpen: () => boolean;
  /** Whether the sink is configured otherwise by now, so that what a call says of it does not concern it any more. */
  readonly hasLeft: () => boolean;
  /** Keys that another lane of this sink has in a call. */
  readonly heldKeys: () => ReadonlySet<string>;
  readonly isUrgent: (key: string) => boolean;
  /** Whether an urgent row waits for the place of the call that asks. */
  readonly mustYield: () => boolean;
}

/** Knows what the lane learnt from its calls: which keys back off, and how the sink is. */
export class Dispatcher {
  readonly keys: KeyBackoff;
  readonly breaker = new CircuitBreaker();
  readonly longEnded = new LongEnded();
  readonly #options: DispatcherOptions;
  #largestBatch = Number.POSITIVE_INFINITY;
  /** The last preparation failed, so that its success is what the sink was waiting for. */
  #isUnprepared = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.keys = new KeyBackoff(options.heldKeys);
  }

  now(): Moment {
    const { wallMs, elapsedMs, random } = this.#options.deps;
    return { wallMs: wallMs(), elapsedMs: elapsedMs(), random };
  }

  /**
   * One batch; after a refusal of several its halves, one after the other, as long as the sink is open; those that were refused beside one
   * that was named go together, without it. Never rejects.
   * `probe`: the one delivery that tests whether a sink that fails as a whole works again; `overtaken`: see `Adapter.deliver`.
   */
  async carry(batch: readonly Delivery[], probe: boolean, overtaken?: AbortSignal): Promise<void> {
    let parts: readonly (readonly Delivery[])[] = [batch];
    for (let [part, ...rest] = parts; part; [part, ...rest] = parts) {
      const verdicts = part !== batch && this.#options.mustYield() ? null : await this.#deliver(part, probe, overtaken);
      if (verdicts === null) {
        if (part !== batch) this.#largestBatch = part.length;
        if (probe) this.keys.markTried(part[0]?.partitionKey ?? '', null);
        return;
      }
      if (!this.#mayGoOn()) return;
      const failed = new Set(verdicts.flatMap((verdict) => (isFailure(verdict) ? [verdict.row.partitionKey] : [])));
      const inOrder = (rows: readonly Delivery[]) => rows.filter((row) => !failed.has(row.partitionKey));
      const again = inOrder(verdicts.flatMap((verdict) => (verdict.outcome === 'again' ? [verdict.row] : [])));
      const isFound = verdicts.some(({ outcome }) => outcome === 'refused');
      parts = [...(isFound ? [again] : halves(again)), ...rest.map(inOrder)].filter((rows) => rows.length > 0);
    }
  }

  /** Members of a batch that make sense now: fewer while the rate, or an urgent row, keeps a refused one from being halved at once, so that the next try is. */
  get largestBatch(): number {
    return this.#largestBatch;
  }

  /** All that was queued is on its way: whatever a batch was refused for is found or gone. */
  drained(): void {
    this.#largestBatch = Number.POSITIVE_INFINITY;
  }

  /** The sink's retirement was lifted: it starts as a new one. */
  resume(): void {
    this.keys.forget();
    this.breaker.resume();
    this.#options.report.resumed();
  }

  #mayGoOn(): boolean {
    const { breaker } = this;
    return this.#options.isOpen() && !breaker.isRetired && !breaker.isOpen && breaker.blockedUntilMs <= this.#options.deps.elapsedMs();
  }

  /** Null where the rate lets no request begin. What is not prepared is not sent, and fails with what the preparation failed with. */
  async #deliver(part: readonly Delivery[], probe: boolean, overtaken: AbortSignal | undefined): Promise<readonly Verdict[] | null> {
    const { adapter, name, deps, rate, signal, hasLeft } = this.#options;
    const startedMs = deps.elapsedMs();
    const unprepared = adapter.preparation?.isNeeded ? await this.#prepare() : null;
    if (unprepared === 'aborted' || (unprepared === null && hasLeft())) return [];
    if (unprepared === null && !rate.begin()) return null;
    const outcomes = unprepared === null ? await attempt(adapter, name, part, deps, { signal, overtaken }) : part.map(() => unprepared);
    if (unprepared === null) rate.end();
    return outcomes ? this.#conclude(part, outcomes, { probe, startedMs }) : [];
  }

  /** What became of each member is stored in any case. */
  #conclude(part: readonly Delivery[], outcomes: readonly Outcome[], call: { probe: boolean; startedMs: number }): readonly Verdict[] {
    const { oldestMs, settlements, report, hasLeft } = this.#options;
    const now = this.now();
    const verdicts = judge(part, outcomes, oldestMs());
    settlements.add(verdicts.flatMap((verdict) => ('settlement' in verdict ? [verdict.settlement] : [])));
    report.attempted(verdicts, now.elapsedMs - call.startedMs);
    if (hasLeft()) {
      report.lateFailures(verdicts);
      return verdicts;
    }
    const failure = verdicts.findLast((verdict) => 'error' in verdict);
    if (failure !== undefined) settlements.failed(failure.error);
    this.#learn(verdicts, call.probe, now);
    return verdicts;
  }

  /** What failed; null where deliveries may begin. */
  async #prepare(): Promise<BridgeError | 'aborted' | null> {
    const { adapter, name, deps, signal } = this.#options;
    const failure = await prepare(adapter, name, deps, signal);
    if (failure === null && this.#isUnprepared && !this.#options.hasLeft()) this.#recover();
    this.#isUnprepared = failure !== null;
    return failure;
  }

  #learn(verdicts: readonly Verdict[], probe: boolean, now: Moment): void {
    const accepted = verdicts.some(isTaken);
    if (accepted) this.#recover();
    const together = onceDrawn(now);
    const failed = new Set<string>();
    for (const verdict of verdicts) {
      const key = verdict.row.partitionKey;
      if (verdict.outcome === 'refused' || verdict.outcome === 'expired') this.#options.report.gaveUp(verdict);
      if (verdict.outcome === 'refused') this.drained();
      if (verdict.outcome === 'again' || failed.has(key)) continue;
      if (isFailure(verdict)) {
        failed.add(key);
        this.#fail(verdict, { probe, counts: !accepted }, now, together);
      } else this.keys.succeed(key);
    }
    if (probe && !accepted && failed.size === 0) this.breaker.again(now);
  }

  #recover(): void {
    const over = this.breaker.succeed();
    if (over.includes('open')) this.keys.endBackOffs();
    this.#options.report.ended(over);
  }

  /** `counts`: nothing of the same call was accepted, so the failure may be the sink's. */
  #fail(
    { row, error }: { row: Delivery; error: BridgeError },
    { probe, counts }: { probe: boolean; counts: boolean },
    now: Moment,
    together: Moment,
  ): void {
    const { report } = this.#options;
    const disposition = error.disposition ?? 'retry';
    if (disposition === 'retired') {
      this.#retire(error, now);
      return;
    }
    const withinMs = disposition === 'retry' && this.#options.isUrgent(row.partitionKey) ? URGENT_CAP_MS : undefined;
    const failures = this.keys.fail(row.partitionKey, { disposition, longEnded: this.longEnded.has(row, now), withinMs }, together);
    const wasOpen = this.breaker.isOpen;
    const news = this.breaker.fail(counts ? row.partitionKey : null, error, probe, now);
    report.failed(row, error, failures, wasOpen || news.includes('misconfigured'));
    report.began(news, error);
    if (!this.breaker.isOpen && this.keys.failing >= MOST_FAILING_KEYS) {
      this.breaker.open(error, now);
      report.began(['open'], error);
    }
  }

  #retire(error: BridgeError, now: Moment): void {
    if (this.breaker.isRetired) return;
    this.breaker.retire(error.message, error.untilRestart);
    this.#options.report.retired(error);
    if (!error.untilRestart) this.#options.settlements.retire({ reason: error.message, atMs: now.wallMs });
  }
}

/** One draw for all keys of a call: those that failed together are due together, so that the same batch goes again, under the same id. */
function onceDrawn(now: Moment): Moment {
  let draw: number | null = null;
  const random = () => {
    draw ??= now.random();
    return draw;
  };
  return { ...now, random };
}
