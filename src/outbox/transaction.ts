// An open store → the writes that one transaction can contain.
import type { ApprovalStep, EventApproval, MessageRefusal, ReceivedMessage } from '../model/approvals.ts';
import type { Drill } from '../model/drills.ts';
import type { Blindness, JournalEntry, KnownState } from '../model/events.ts';
import type { Deps } from '../time/clock.ts';
import type { Database } from './database.ts';
import { tooLarge } from './errors.ts';
import type { OpenStore } from './open-store.ts';
import type { Queue } from './queue.ts';

export interface Transaction {
  /**
   * Writes the differences from the state on disk.
   * @param atMs the time at which events came or went; default: `lastGoodAt`
   */
  saveState(next: KnownState, atMs?: number): void;
  saveDrill(drill: Drill): void;
  saveBlindness(blindness: Blindness | null): void;
  /** Records that this occurrence named this VM. */
  markOwn(occurrence: number): void;
  /**
   * Journals a CloudEvent and queues it for these sinks. Returns its position in the journal.
   * @throws BridgeError BRIDGE_INTERNAL if its id was used before
   */
  append(entry: JournalEntry, sinks: readonly string[], queuedAtMs: number): number;
  /** Replaces the approvals of one occurrence. */
  saveApproval(approval: EventApproval): void;
  /** Appends lines to the audit trail of an occurrence. For an approver with too many lines, they are only counted. */
  addSteps(occurrence: number, steps: readonly ApprovalStep[]): void;
  /** Parks a message for an unknown event. */
  parkMessage(message: ReceivedMessage): void;
  /** Records that a message is settled, and unparks it. */
  handleMessage(message: Pick<ReceivedMessage, 'source' | 'id'>, refusal: MessageRefusal | null, atMs: number): void;
  /** Writes the outcomes of deliveries of a sink. */
  settle(...outcomes: Parameters<Queue['settleWithin']>): void;
}

/** The part of `store.maxSize` reserved for writes that free space: outcomes and pruning. */
const RESERVE = 1 / 64;

/** @throws BridgeError BRIDGE_STORE_FULL if the rest of `store.maxSize` is used */
function expectRoom(database: Database): void {
  const { bytes, maxBytes } = database.usage();
  if (maxBytes !== null && bytes > maxBytes * (1 - RESERVE)) throw tooLarge(database.file, maxBytes);
}

/**
 * Commits all writes of `work`, or none, within `store.maxSize`. They are on disk when it returns.
 * @throws also the errors of `work`
 */
export function transact<T>(
  store: OpenStore,
  { wallMs }: Pick<Deps, 'wallMs'>,
  work: (transaction: Transaction) => T,
): T {
  const { known, journal, approvals, messages, queue, drills } = store.tables;
  let events = known.stored;
  const transaction: Transaction = {
    saveState: (next, atMs = next.lastGoodAt?.wallMs ?? wallMs()) => {
      known.save(next, events, atMs);
      events = next.events;
    },
    saveDrill: (drill) => drills.save(drill),
    saveBlindness: (blindness) => known.saveBlindness(blindness),
    markOwn: (occurrence) => known.markOwn(occurrence),
    append: (entry, sinks, queuedAtMs) => journal.append(entry, sinks, queuedAtMs),
    saveApproval: (approval) => approvals.save(approval),
    addSteps: (occurrence, steps) => approvals.addSteps(occurrence, steps),
    parkMessage: (message) => messages.park(message),
    handleMessage: (message, refusal, atMs) => messages.handle(message, refusal, atMs),
    settle: (...outcomes) => queue.settleWithin(...outcomes),
  };
  const result = store.database.transaction(() => {
    const done = work(transaction);
    expectRoom(store.database);
    return done;
  });
  known.stored = events;
  return result;
}
