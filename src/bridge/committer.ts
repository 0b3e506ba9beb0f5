// What was observed → one durable transaction: the known state, the CloudEvents of its changes, a delivery row for each sink that wants them.
import type { Logger } from 'pino';
import { observeBlind, observeRestored, type Sight, type SightChange } from '../changes/blindness.ts';
import { type Observation, observe } from '../changes/diff.ts';
import { observeFailure } from '../changes/state.ts';
import type { EventContext } from '../cloudevents/event.ts';
import { toJournalEntry } from '../cloudevents/journal-entry.ts';
import { isStoreFault, messageOf } from '../errors.ts';
import type { Blindness, Change, EventChange, Instant, KnownState, ScheduledEventsDocument } from '../model/events.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Transaction } from '../outbox/transaction.ts';
import { type Deps, now } from '../time/clock.ts';

export interface RecorderParts {
  readonly outbox: Outbox;
  readonly settleMs: number;
  readonly deps: Deps;
  readonly logger: Logger;
  /** What goes into every CloudEvent; asked at each commit, since the VM's name may become known later. */
  readonly context: () => EventContext;
  /** The sinks that get this change. */
  readonly route: (change: Change, transaction: Transaction) => readonly string[];
  /** Lets approvals see the changes inside the transaction that stores them; what it returns is done once that is on disk. */
  readonly approvals: (transaction: Transaction, changes: readonly EventChange[]) => () => void;
  readonly isApproved: (key: string, occurrence: number) => boolean;
  /** Called with what is on disk now. */
  readonly committed: (changes: readonly Change[]) => void;
}

/** Compares and commits; holds the last committed state, which nothing but a commit replaces. One for each bridge. */
export class Recorder {
  readonly #parts: RecorderParts;
  #known: KnownState;
  #blindness: Blindness | null;
  #fault: string | null = null;
  /** What was told to fail and not yet to work again. */
  #told: 'heartbeat' | 'transaction' | null = null;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#known = parts.outbox.known.load();
    this.#blindness = parts.outbox.known.blindness();
  }

  /** The last committed state. */
  get known(): KnownState {
    return this.#known;
  }

  get blindness(): Blindness | null {
    return this.#blindness;
  }

  /** Why the last commit did not go through; null when it did. */
  get fault(): string | null {
    return this.#fault;
  }

  /** A good document against the known state. Changes nothing. */
  compare(document: ScheduledEventsDocument, at: Instant): Observation {
    return observe(this.#known, document, at, { settleMs: this.#parts.settleMs, isUsed: this.#isUsed, isApproved: this.#parts.isApproved });
  }

  /** A document that was nothing new: only its time is kept, in the store without a flush to disk. */
  keep(state: KnownState): void {
    this.#known = state;
    const wentWell = state.lastGoodAt === null || this.#parts.outbox.heartbeat(state.lastGoodAt);
    this.#judge(wentWell ? null : 'the time of the last document could not be written', 'heartbeat');
  }

  /** A poll that brought no good document. */
  miss(): void {
    this.#known = observeFailure(this.#known);
  }

  /** Stores what a document changed, then takes it for known. After a failure the known state stands, so that the next poll compares again. */
  commit({ state, changes, news }: Observation): void {
    if (!news) {
      this.keep(state);
      return;
    }
    this.#store(changes, (transaction) => {
      transaction.saveState(state);
      this.append(transaction, changes);
      const settled = this.#parts.approvals(transaction, changes);
      return () => {
        this.#known = state;
        settled();
      };
    });
  }

  /** Tells that sight was lost, once `limitMs` have passed without a good document. */
  lookForBlindness(sight: Omit<Sight, 'blindness'>, limitMs: number, reason: string | null): void {
    this.#see(
      observeBlind({ ...sight, blindness: this.#blindness }, now(this.#parts.deps), {
        limitMs,
        reason,
        observerId: this.#observerId,
        isUsed: this.#isUsed,
      }),
    );
  }

  /** Tells that sight is back, where its loss was told before. */
  lookForSight(at: Instant): void {
    this.#see(observeRestored(this.#blindness, at, { observerId: this.#observerId, isUsed: this.#isUsed }));
  }

  /** Makes the CloudEvents of these changes and queues them for the sinks that want them. */
  append(transaction: Transaction, changes: readonly Change[]): void {
    const context = this.#parts.context();
    const queuedAtMs = this.#parts.deps.wallMs();
    for (const change of changes) transaction.append(toJournalEntry(change, context), this.#parts.route(change, transaction), queuedAtMs);
  }

  #see(seen: SightChange | null): void {
    if (seen === null) return;
    this.#store([seen.change], (transaction) => {
      transaction.saveBlindness(seen.blindness);
      this.append(transaction, [seen.change]);
      return () => {
        this.#blindness = seen.blindness;
      };
    });
  }

  /** One transaction for what others have to store; `fault` tells how it went. @throws BridgeError BRIDGE_STORE_* */
  transact<T>(work: (transaction: Transaction) => T): T {
    try {
      const result = this.#parts.outbox.transact(work);
      this.#judge(null, 'transaction');
      return result;
    } catch (error) {
      if (isStoreFault(error)) this.#judge(messageOf(error), 'transaction');
      throw error;
    }
  }

  #store(changes: readonly Change[], work: (transaction: Transaction) => () => void): void {
    try {
      this.transact(work)();
    } catch (error) {
      // A mistake of ours too must not end the flow: it is told, and the next poll compares again.
      this.#judge(messageOf(error), 'transaction');
      return;
    }
    this.#parts.committed(changes);
  }

  /** Told once when it begins and once when it ends: a heartbeat needs no room on a full disk, so it tells nothing of transactions. */
  #judge(fault: string | null, of: 'heartbeat' | 'transaction'): void {
    const { logger } = this.#parts;
    const wasTold = this.#told !== null;
    if (fault !== null) this.#told = this.#told === 'transaction' ? 'transaction' : of;
    else if (of === 'transaction' || this.#told === 'heartbeat') this.#told = null;
    if (fault !== null && !wasTold) {
      logger.error(
        { reason: fault },
        'nothing can be stored: what is observed is compared again at each poll, and nothing of it is sent until it is stored',
      );
    }
    if (wasTold && this.#told === null) logger.info('what is observed can be stored again');
    this.#fault = fault;
  }

  get #observerId(): string {
    return this.#parts.context().observer.id;
  }

  readonly #isUsed = (id: string): boolean => this.#parts.outbox.journal.isUsed(id);
}
