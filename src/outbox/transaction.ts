// An open store → the writes that one transaction may hold.
import type { ApprovalStep, EventApproval, MessageRefusal, ReceivedMessage } from '../model/approvals.ts';
import type { Drill } from '../model/drills.ts';
import type { Blindness, JournalEntry, KnownState } from '../model/events.ts';
import type { Deps } from '../time/clock.ts';
import type { Database } from './database.ts';
import { tooLarge } from './errors.ts';
import type { OpenStore } from './open-store.ts';
import type { Queue } from './queue.ts';

/** What can be written inside one transaction. */
export interface Transaction {
  /** Writes what differs from the state on disk; occurrences that came or went did so at `atMs`, by default at its `lastGoodAt`. */
  saveState(next: KnownState, atMs?: number): void;
  saveDrill(drill: Drill): void;
  saveBlindness(blindness: Blindness | null): void;
  /** Remembers that this occurrence named this VM. */
  markOwn(occurrence: number): void;
  /** Journals a CloudEvent and queues it for these sinks. Returns its position in the journal. @throws BridgeError BRIDGE_INTERNAL where its id was used before. */
  append(entry: JournalEntry, sinks: readonly string[], queuedAtMs: number): number;
  /** Writes the approvals of one occurrence, over what was stored of it. */
  saveApproval(approval: EventApproval): void;
  /** Adds lines to the record of an occurrence, behind those that stand there; of an approver who has many there already they are counted alone. */
  addSteps(occurrence: number, steps: readonly ApprovalStep[]): void;
  /** Keeps a message whose event is not known yet. */
  parkMessage(message: ReceivedMessage): void;
  /** Remembers that a message is settled for good; it waits no longer. */
  handleMessage(message: Pick<ReceivedMessage, 'source' | 'id'>, refusal: MessageRefusal | null, atMs: number): void;
  /** What became of deliveries of a sink. */
  settle(...outcomes: Parameters<Queue['settleWithin']>): void;
}

/** Of `store.maxSize`, kept for what makes room: noting what was delivered, and pruning it. */
const RESERVE = 1 / 64;

/** @throws BridgeError BRIDGE_STORE_FULL */
function expectRoom(database: Database): void {
  const { bytes, maxBytes } = database.usage();
  if (maxBytes !== null && bytes > maxBytes * (1 - RESERVE)) throw tooLarge(database.file, maxBytes);
}

/** All of it or nothing, on disk before it returns, and within `store.maxSize`. @throws also what `work` throws */
export function transact<T>(store: OpenStore, { wallMs }: Pick<Deps, 'wallMs'>, work: (transaction: Transaction) => T): T {
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
