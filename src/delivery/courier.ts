// One batch of a lane → calls of the adapter, and what their outcomes mean for the rows, the keys and the sink.
import type { Adapter } from '../../adapters/adapter.ts';
import type { BridgeError } from '../errors.ts';
import type { Delivery } from '../model.ts';
import type { Deps } from '../time.ts';
import { attempt } from './attempt.ts';
import { LongEnded, type Moment } from './backoff.ts';
import { halves } from './batch.ts';
import { LaneKeys, MOST_TROUBLED_KEYS } from './lane-keys.ts';
import type { LaneReport } from './lane-report.ts';
import type { Settlements } from './settlements.ts';
import { SinkHealth } from './sink-health.ts';
import { isFailure, judge, type Verdict } from './verdict.ts';

export interface CourierOptions {
  /** The sink's name. */
  readonly name: string;
  readonly adapter: Adapter;
  readonly maxAgeMs: number;
  readonly deps: Deps;
  readonly settlements: Settlements;
  readonly report: LaneReport;
  /** Aborts what is running. */
  readonly signal: AbortSignal;
  /** Whether calls may still begin. */
  readonly isOpen: () => boolean;
}

/** Knows what the lane learnt from its calls: which keys back off, and how the sink is. */
export class Courier {
  readonly keys = new LaneKeys();
  readonly health = new SinkHealth();
  readonly longEnded = new LongEnded();
  readonly #options: CourierOptions;

  constructor(options: CourierOptions) {
    this.#options = options;
  }

  now(): Moment {
    const { wallMs, elapsedMs, random } = this.#options.deps;
    return { wallMs: wallMs(), elapsedMs: elapsedMs(), random };
  }

  /**
   * One batch; after a refusal of several its halves, one after the other, as long as the sink is open. Never rejects.
   * `probe`: the one delivery that shows whether a sick sink is well again.
   */
  async carry(batch: readonly Delivery[], probe: boolean): Promise<void> {
    let parts: readonly (readonly Delivery[])[] = [batch];
    for (let [part, ...rest] = parts; part; [part, ...rest] = parts) {
      const verdicts = await this.#deliver(part, probe);
      if (!this.#mayGoOn()) return;
      const again = verdicts.flatMap((verdict) => (verdict.outcome === 'again' ? [verdict.row] : []));
      const failed = new Set(verdicts.flatMap((verdict) => (isFailure(verdict) ? [verdict.row.partitionKey] : [])));
      const inOrder = (rows: readonly Delivery[]) => rows.filter((row) => !failed.has(row.partitionKey));
      parts = [...halves(inOrder(again)), ...rest.map(inOrder).filter((rows) => rows.length > 0)];
    }
  }

  #mayGoOn(): boolean {
    const { health } = this;
    return this.#options.isOpen() && !health.isRetired && !health.isSick && health.closedUntilMs <= this.#options.deps.elapsedMs();
  }

  async #deliver(part: readonly Delivery[], probe: boolean): Promise<readonly Verdict[]> {
    const { adapter, name, deps, maxAgeMs, settlements, report, signal } = this.#options;
    const startedMs = deps.elapsedMs();
    const outcomes = await attempt(adapter, name, part, deps, signal);
    if (!outcomes) return [];
    const now = this.now();
    const verdicts = judge(part, outcomes, { wallMs: now.wallMs, maxAgeMs });
    settlements.add(verdicts.flatMap((verdict) => ('settlement' in verdict ? [verdict.settlement] : [])));
    report.attempted(verdicts, now.elapsedMs - startedMs);
    this.#learn(verdicts, probe, now);
    return verdicts;
  }

  #learn(verdicts: readonly Verdict[], probe: boolean, now: Moment): void {
    const accepted = verdicts.some(({ outcome }) => outcome === 'accepted');
    if (accepted) this.#recover();
    const failed = new Set<string>();
    for (const verdict of verdicts) {
      const key = verdict.row.partitionKey;
      if (verdict.outcome === 'refused' || verdict.outcome === 'expired') this.#options.report.gaveUp(verdict);
      if (verdict.outcome === 'again' || failed.has(key)) continue;
      if (isFailure(verdict)) {
        failed.add(key);
        this.#fail(verdict, { probe, counts: !accepted }, now);
      } else this.keys.succeed(key);
    }
    if (probe && !accepted && failed.size === 0) this.health.again(now);
  }

  #recover(): void {
    const over = this.health.succeed();
    if (over.includes('sick')) this.keys.free();
    this.#options.report.ended(over);
  }

  /** `counts`: nothing of the same call was accepted, so the failure may be the sink's. */
  #fail({ row, error }: { row: Delivery; error: BridgeError }, { probe, counts }: { probe: boolean; counts: boolean }, now: Moment): void {
    const { report } = this.#options;
    const disposition = error.disposition ?? 'retry';
    if (disposition === 'retired') {
      this.#retire(error, now);
      return;
    }
    const failures = this.keys.fail(row.partitionKey, { disposition, longEnded: this.longEnded.has(row, now) }, now);
    report.failed(row, error, failures, this.health.isSick);
    report.began(this.health.fail(counts ? row.partitionKey : null, error, probe, now), error);
    if (!this.health.isSick && this.keys.troubled >= MOST_TROUBLED_KEYS) {
      this.health.sicken(disposition, now);
      report.began(['sick'], error);
    }
  }

  #retire(error: BridgeError, now: Moment): void {
    if (this.health.isRetired) return;
    this.health.retire(error.message);
    this.#options.report.retired(error);
    if (!error.untilRestart) this.#options.settlements.retire({ reason: error.message, atMs: now.wallMs });
  }
}
