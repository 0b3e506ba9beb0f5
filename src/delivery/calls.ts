// One batch → calls of the adapter, until each member has an outcome and the lane its next state.
import type { Outcome, Preparation } from '../../adapters/adapter.ts';
import { BridgeError } from '../errors.ts';
import type { Delivery } from '../model/deliveries.ts';
import { type Deps, deadline, orAbort } from '../time/clock.ts';
import { halves } from './batch.ts';
import type { LaneEnd } from './lane-end.ts';
import type { LaneReport } from './lane-report.ts';
import { type StateHolder, unprobed } from './lane-state.ts';
import { broken, type ManagedAdapter, miscounted, timedOut } from './managed-adapter.ts';
import { moment } from './moment.ts';
import { blockedKeys } from './next.ts';
import type { OutcomeWriter } from './outcome-writer.ts';
import type { QueueReader } from './queue-reader.ts';
import { type Changed, concluded, isFailure, judge, type Verdict, withRecovery } from './verdict.ts';

/** An adapter has time limits of its own; this one ends a call that none of them ended, if its limits name no other. */
const CALL_LIMIT_MS = 300_000;

export interface CallsOptions {
  /** The sink's name. */
  readonly name: string;
  readonly adapter: ManagedAdapter;
  readonly lane: StateHolder;
  readonly queue: QueueReader;
  readonly writer: OutcomeWriter;
  readonly report: LaneReport;
  readonly end: LaneEnd;
  readonly deps: Deps;
  /** What was queued then, or before, is too old; in the store's time. */
  readonly oldestMs: () => number;
}

type Limit = ReturnType<typeof deadline>;

export class Calls {
  readonly #options: CallsOptions;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /**
   * Delivers one batch. If the sink refuses several deliveries, sends its halves one after the other, as long as the
   * sink accepts. If it names one of them, sends the others together without it. Never rejects. @param superseded see
   * `Adapter.deliver`
   */
  async deliver(batch: readonly Delivery[], isProbe: boolean, superseded: AbortSignal | undefined): Promise<void> {
    const { deps } = this.#options;
    let parts: readonly (readonly Delivery[])[] = [batch];
    for (let [part, ...rest] = parts; part; [part, ...rest] = parts) {
      const startedMs = deps.elapsedMs();
      const outcomes = part !== batch && this.#mustYield() ? 'cut short' : await this.#send(part, superseded);
      if (outcomes === 'cut short') return this.#cutShort(part, part === batch, isProbe);
      if (outcomes === 'aborted') return;
      const verdicts = this.#concluded(part, outcomes, isProbe, startedMs);
      if (!this.#mayGoOn()) return;
      parts = remaining(verdicts, rest);
    }
  }

  /**
   * One call. An adapter that is not prepared is prepared first; if that fails, nothing is sent, and every member fails
   * with its error. `aborted`: nothing is known of the members.
   */
  async #send(
    part: readonly Delivery[],
    superseded: AbortSignal | undefined,
  ): Promise<readonly Outcome[] | 'aborted' | 'cut short'> {
    const { name, adapter, queue, end } = this.#options;
    if (adapter.preparation?.isNeeded) {
      const failure = await this.#prepare(adapter.preparation);
      if (failure === 'aborted' || (failure === null && end.hasLeft)) return 'aborted';
      if (failure !== null) return part.map(() => failure);
    }
    if (!queue.rate.begin()) return 'cut short';
    const limit = this.#limit(adapter.limits.callMs ?? CALL_LIMIT_MS);
    const outcomes = await this.#resultOf(adapter.deliver(part, limit.signal, superseded), limit);
    queue.rate.end();
    if (outcomes === 'aborted') return outcomes;
    if (outcomes instanceof BridgeError) return part.map(() => outcomes);
    return outcomes.length === part.length ? outcomes : part.map(() => miscounted(name, part.length, outcomes.length));
  }

  /** Null if it succeeded. */
  async #prepare(preparation: Preparation): Promise<BridgeError | 'aborted' | null> {
    const limit = this.#limit(CALL_LIMIT_MS);
    const failure = (await this.#resultOf(preparation.run(limit.signal), limit)) ?? null;
    const { lane, end } = this.#options;
    if (failure === null && lane.state.isUnprepared && !end.hasLeft) this.#change(withRecovery(lane.state));
    lane.state = { ...lane.state, isUnprepared: failure !== null };
    return failure;
  }

  #limit(limitMs: number): Limit {
    const { name, deps, end } = this.#options;
    return deadline(deps, limitMs, () => timedOut(name, limitMs), end.signal);
  }

  /** The result, or the error that a failure or the limit means. Never rejects. */
  async #resultOf<Result>(work: Promise<Result>, limit: Limit): Promise<Result | BridgeError | 'aborted'> {
    try {
      return await orAbort(work, limit.signal);
    } catch (error) {
      if (this.#options.end.signal.aborted) return 'aborted';
      const cause = limit.signal.aborted ? limit.signal.reason : error;
      return cause instanceof BridgeError ? cause : broken(this.#options.name, cause);
    } finally {
      limit.cancel();
    }
  }

  /** The outcome of each member is stored in any case; under an earlier configuration it says nothing of the sink. */
  #concluded(
    part: readonly Delivery[],
    outcomes: readonly Outcome[],
    isProbe: boolean,
    startedMs: number,
  ): readonly Verdict[] {
    const { lane, queue, writer, report, end, deps } = this.#options;
    const verdicts = judge(part, outcomes, this.#options.oldestMs());
    writer.add(verdicts.flatMap((verdict) => ('settlement' in verdict ? [verdict.settlement] : [])));
    report.attempted(verdicts, deps.elapsedMs() - startedMs);
    if (end.hasLeft) {
      report.lateFailures(verdicts);
      return verdicts;
    }
    const failure = verdicts.findLast((verdict) => 'error' in verdict);
    if (failure !== undefined) writer.failed(failure.error);
    this.#change(concluded(lane.state, verdicts, isProbe, queue, moment(deps)));
    return verdicts;
  }

  #change({ state, news }: Changed): void {
    const { lane, writer, report, deps } = this.#options;
    lane.state = state;
    for (const each of news) {
      report.changed(each);
      if (each.kind === 'retired' && !each.error.untilRestart)
        writer.retire({ reason: each.error.message, atMs: deps.wallMs() });
    }
  }

  /** Neither the rate nor an urgent row lets this part of a batch begin. */
  #cutShort(part: readonly Delivery[], isWhole: boolean, isProbe: boolean): void {
    const { lane } = this.#options;
    if (!isWhole) lane.state = { ...lane.state, largestBatch: part.length };
    if (isProbe) lane.state = unprobed(lane.state, part);
  }

  /** Whether an urgent row waits for the place of the rest of a batch. */
  #mustYield(): boolean {
    const { lane, queue, deps } = this.#options;
    return queue.lacksPlace(lane.state.calls, () => blockedKeys(lane.state, deps.elapsedMs(), queue.heldKeys()));
  }

  /** Whether the rest of a batch may still go. */
  #mayGoOn(): boolean {
    const { lane, end, deps } = this.#options;
    const { pause, retired, opening, heldUntilMs } = lane.state;
    return !end.hasBegun && !pause && !retired && !opening && heldUntilMs <= deps.elapsedMs();
  }
}

/** What of a batch goes again after one of its parts: a key that failed does not go on in another part. */
function remaining(
  verdicts: readonly Verdict[],
  rest: readonly (readonly Delivery[])[],
): readonly (readonly Delivery[])[] {
  const failed = new Set(verdicts.filter(isFailure).map(({ row }) => row.partitionKey));
  const inOrder = (rows: readonly Delivery[]) => rows.filter((row) => !failed.has(row.partitionKey));
  const again = inOrder(verdicts.filter(({ outcome }) => outcome === 'again').map(({ row }) => row));
  const isFound = verdicts.some(({ outcome }) => outcome === 'refused');
  return [...(isFound ? [again] : halves(again)), ...rest.map(inOrder)].filter((rows) => rows.length > 0);
}
