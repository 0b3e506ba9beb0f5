// Budgets, events in use, and rules that would approve → the approvals that fit, decided.

import { messageOf } from '../../errors.ts';
import type { EventApproval, Rest } from '../../model/approvals.ts';
import type { Instant, KnownEvent } from '../../model/events.ts';
import { isDrill } from '../../model/ids.ts';
import { now } from '../../time/clock.ts';
import type { BudgetInUse, Use } from '../rules/budgets.ts';
import type { GovernedEvent } from '../rules/governed.ts';
import { Deadlines } from './deadlines.ts';
import type { RecordParts } from './ledger.ts';
import { withAllotment, withoutAllotment } from './transitions.ts';

/** The longest `rest` of a budget. */
const LONGEST_REST_MS = 30 * 24 * 60 * 60 * 1000;

/** The states in which a decided approval counts in its budgets: posted, or on its way there. */
const IN_USE: ReadonlySet<EventApproval['state']> = new Set([
  'submitting',
  'submitted',
  'confirmed',
  'unknown',
  'dry-run',
]);

/** An event that a rule with budgets approves as soon as it fits them, or has approved while it fitted. */
interface Waiting {
  readonly governedEvent: GovernedEvent;
  readonly before: EventApproval | null;
  readonly after: EventApproval;
}

/** A budget, and what is in use of it. `eventId` is null if the event has ended. */
export interface UsedBudget extends BudgetInUse<Use & { readonly eventId: string | null }> {
  readonly name: string;
}

interface AllotmentsParts extends RecordParts {
  /** The deadlines and the edges of windows of all events. */
  readonly deadlines: Pick<Deadlines, 'lookAgain'>;
}

/**
 * Approves what fits the budgets: after each change, and when the rest of an ended event is over. So the decision of a
 * rule with budgets is made in two steps: its time comes, and it fits. Until it is posted it must fit: it is taken back
 * if it no longer does, because the event or another one names more machines, or Azure starts another one. If it may
 * have been accepted then, it stays in use, and is posted again only when it fits again.
 */
export class Allotments implements Disposable {
  readonly #parts: AllotmentsParts;
  readonly #restEnds: Deadlines;
  #rests: readonly Rest[] = [];
  /** By key: what budgets hold back, so that its start by Azure can be logged. */
  #heldBack: ReadonlyMap<string, { readonly occurrence: number; readonly budgets: readonly string[] }> = new Map();
  #isTrying = false;

  constructor(parts: AllotmentsParts) {
    this.#parts = parts;
    this.#restEnds = new Deadlines(parts.deps);
    this.#restEnds.due$.subscribe(() => this.tryAll());
    parts.ledger.committed$.subscribe(() => this.tryAll());
  }

  /** Loads the ended events that may still count. @throws BridgeError BRIDGE_STORE_* */
  load(): void {
    const { store, deps } = this.#parts;
    this.#rests = store.rests.since(deps.wallMs() - LONGEST_REST_MS);
  }

  /** Adds an event that has ended, in the transaction that stores its end. Null: it was not in use. */
  restOf(
    known: Pick<KnownEvent, 'key' | 'occurrence' | 'event'>,
    approval: EventApproval | null,
    at: Instant,
  ): Rest | null {
    if (isDrill(known.key) || !this.#isInUse(known, approval)) return null;
    return { occurrence: known.occurrence, resources: known.event.resources, endedMs: at.wallMs };
  }

  /** To be called when that transaction is on disk. */
  keep(rest: Rest): void {
    this.#rests = [...this.#rests.filter(({ endedMs }) => endedMs >= rest.endedMs - LONGEST_REST_MS), rest];
  }

  /** Returns the budgets that hold this event back now; empty if none does. */
  heldBackBy(known: KnownEvent): readonly string[] {
    const { ledger, rules, deps } = this.#parts;
    const governedEvent = ledger.governedEventOf(known);
    if (governedEvent === null || governedEvent.governed.ruling.budgets.length === 0) return [];
    const at = now(deps);
    const approval = ledger.approvalOf(known.key, known.occurrence);
    // Under a hold, as if it were released.
    const free = approval?.state === 'held' ? { ...approval, holds: [], state: 'waiting' as const } : approval;
    const isDue = withAllotment(rules, free, governedEvent, at) !== null;
    return isDue ? (this.#heldBackOf([governedEvent], at).get(known.key) ?? []) : [];
  }

  /** Returns what is in use of these budgets now. */
  inUse(budgets: readonly string[]): readonly UsedBudget[] {
    const { rules, deps } = this.#parts;
    const uses = [...this.#uses(), ...this.#rests.map((rest) => ({ ...rest, eventId: null }))];
    return budgets.flatMap((name) => {
      const found = rules.allotment.inUse(name, uses, deps.wallMs());
      return found === null ? [] : [{ name, ...found }];
    });
  }

  /** Approves what fits now. A fault of the store is logged; the next document retries. */
  tryAll(): void {
    if (this.#isTrying) return;
    this.#isTrying = true;
    try {
      // Of events whose time comes at one moment, the order of NotBefore decides, not that of their timers.
      this.#parts.deadlines.lookAgain();
      this.#try(now(this.#parts.deps));
    } catch (error) {
      this.#parts.logger.error(
        { reason: messageOf(error) },
        'an approval fits its budgets and could not be stored; the bridge will retry it',
      );
    } finally {
      this.#isTrying = false;
    }
  }

  [Symbol.dispose](): void {
    this.#restEnds[Symbol.dispose]();
  }

  #try(at: Instant): void {
    this.#reportStarts();
    this.#takeBack(at);
    const waiting = this.#waiting(at);
    const drills = waiting.filter(({ governedEvent }) => isDrill(governedEvent.known.key));
    const real = waiting.filter((each) => !drills.includes(each));
    const held = this.#heldBackOf(
      real.map(({ governedEvent }) => governedEvent),
      at,
    );
    this.#decide(
      real.filter((each) => isFree(each, held)),
      at,
    );
    // A drill takes no place of a maintenance, so it is tried behind them, and alone.
    for (const drill of drills) {
      if (isFree(drill, this.#heldBackOf([drill.governedEvent], at))) this.#decide([drill], at);
    }
    this.#keepHeldBack(real, held);
    const endMs = waiting.length === 0 ? null : this.#parts.rules.allotment.nextRestEndMs(this.#rests, at.wallMs);
    this.#restEnds.set('rest', endMs);
  }

  /** A StartRequest that is on its way cannot be taken back; its answer comes soon. */
  #takeBack(at: Instant): void {
    const { ledger, ports, rules } = this.#parts;
    const decided = [...ports.events().values()].flatMap((known): Waiting[] => {
      const governedEvent = ledger.governedEventOf(known);
      const before = ledger.approvalOf(known.key, known.occurrence);
      if (governedEvent === null || before === null || isDrill(known.key)) return [];
      if (ledger.doubts.isOnItsWay(before)) return [];
      const after = withoutAllotment(rules, before, governedEvent, at);
      return after === null ? [] : [{ governedEvent, before, after }];
    });
    const held = this.#heldBackOf(
      decided.map(({ governedEvent }) => governedEvent),
      at,
    );
    this.#decide(
      decided.filter((each) => !isFree(each, held)),
      at,
    );
  }

  /** Returns the events that a rule with budgets would approve now. */
  #waiting(at: Instant): readonly Waiting[] {
    const { ledger, ports, rules } = this.#parts;
    return [...ports.events().values()].flatMap((known) => {
      const governedEvent = ledger.governedEventOf(known);
      if (governedEvent === null || known.event.eventStatus !== 'Scheduled') return [];
      const before = ledger.approvalOf(known.key, known.occurrence);
      const after = withAllotment(rules, before, governedEvent, at);
      return after === null ? [] : [{ governedEvent, before, after }];
    });
  }

  #heldBackOf(events: readonly GovernedEvent[], at: Instant): ReadonlyMap<string, readonly string[]> {
    if (events.length === 0) return new Map();
    const candidates = events.map(({ known, governed }) => ({
      key: known.key,
      event: known.event,
      budgets: governed.ruling.budgets,
    }));
    // What may have been accepted counts against the others even if it does not fit itself.
    const { doubts } = this.#parts.ledger;
    const certain = new Set(events.flatMap(({ known }) => (doubts.mayBeAccepted(known) ? [] : [known.key])));
    const others = this.#uses().filter(({ key }) => !certain.has(key));
    return this.#parts.rules.allotment.heldBack([...others, ...this.#rests], candidates, at.wallMs);
  }

  #uses(): readonly (Use & { readonly key: string; readonly eventId: string })[] {
    const { ledger, ports } = this.#parts;
    return [...ports.events().values()]
      .filter((known) => !isDrill(known.key) && this.#isInUse(known, ledger.approvalOf(known.key, known.occurrence)))
      .map(({ key, event }) => ({ key, eventId: event.eventId, resources: event.resources, endedMs: null }));
  }

  /** Whether the event is Started, this bridge has approved it and nobody holds it, or Azure may have accepted that. */
  #isInUse(known: Pick<KnownEvent, 'key' | 'occurrence' | 'event'>, approval: EventApproval | null): boolean {
    if (known.event.eventStatus === 'Started') return true;
    return (approval !== null && IN_USE.has(approval.state)) || this.#parts.ledger.doubts.mayBeAccepted(known);
  }

  #decide(waiting: readonly Waiting[], at: Instant): void {
    if (waiting.length === 0) return;
    const { ledger, auditTrail } = this.#parts;
    const entries = waiting.map(({ governedEvent, before, after }) =>
      auditTrail.entry(governedEvent.known, before, after, at),
    );
    ledger.commit([
      auditTrail.pending(entries, () => {
        for (const { after } of waiting) ledger.keep(after);
      }),
    ]);
  }

  #keepHeldBack(waiting: readonly Waiting[], held: ReadonlyMap<string, readonly string[]>): void {
    const heldBack = waiting
      .filter((each) => !isFree(each, held))
      .map(({ governedEvent: { known } }) => {
        const budgets = held.get(known.key) ?? [];
        return [known.key, { occurrence: known.occurrence, budgets, known }] as const;
      });
    for (const [key, { budgets, known }] of heldBack) {
      const { eventId, notBefore } = known.event;
      if (this.#heldBack.get(key)?.occurrence === known.occurrence) continue;
      this.#parts.logger.info({ eventId, budgets, notBefore }, 'budgets hold back an approval');
    }
    this.#heldBack = new Map(heldBack);
  }

  /** A budget cannot stop Azure at NotBefore. */
  #reportStarts(): void {
    const { ports, logger } = this.#parts;
    for (const [key, { occurrence, budgets }] of this.#heldBack) {
      const known = ports.events().get(key);
      if (known?.occurrence !== occurrence || known.event.eventStatus !== 'Started') continue;
      logger.warn({ eventId: known.event.eventId, budgets }, 'Azure started an event that budgets held back');
    }
  }
}

function isFree({ governedEvent }: Waiting, held: ReadonlyMap<string, readonly string[]>): boolean {
  return held.get(governedEvent.known.key)?.length === 0;
}
