// Documents in order, and rules → when each event would be approved. Sends nothing.

import type { EventApproval } from '../../model/approvals.ts';
import type { Instant, ScheduledEvent } from '../../model/events.ts';
import type { NextStep } from '../../model/next-step.ts';
import { review, withAllotment, withDeadline } from '../record/transitions.ts';
import type { Use } from '../rules/budgets.ts';
import { type Governed, GovernedEvents } from '../rules/governed.ts';
import { inWindowMs } from '../rules/group-order.ts';
import type { PolicyDecision } from '../rules/policy.ts';
import { RulesInForce, type RulesOptions } from '../rules/rules-in-force.ts';
import { nextStepOf } from './next-step.ts';

/** What becomes of an event by windows and budgets, in the words of the HTTP interface. */
export interface Outlook {
  /** The window in which the rule approves, open or next; null if it approves at any time, or in none. */
  readonly window: string | null;
  readonly nextStep: NextStep;
  /** The budgets that hold the event back at this time. */
  readonly heldBackBy: readonly string[];
}

/** An outlook with the decision that governs the event; null if the event has started. */
export interface Judged {
  readonly outlook: Outlook;
  readonly ruling: PolicyDecision | null;
}

interface Life {
  readonly known: { readonly key: string; readonly occurrence: number; readonly event: ScheduledEvent };
  /** Null if the event is not Scheduled. */
  readonly governed: Governed | null;
  readonly approval: EventApproval | null;
}

/** Judges the events of each document together, in virtual time. An approval counts at once as accepted. */
export class PolicyPlay {
  readonly #rules: RulesInForce;
  readonly #governed: GovernedEvents;
  /** By EventId in lower case. */
  readonly #lives = new Map<string, Life>();
  readonly #moments = new Map<string, number>();
  #rests: readonly Use[] = [];
  #occurrences = 0;

  constructor(options: Omit<RulesOptions, 'dryRun' | 'group' | 'holdingSinks'>) {
    const group = { submit: 'every', failoverAfterMs: 0, members: [] } as const;
    this.#rules = new RulesInForce({ ...options, group, dryRun: false });
    this.#governed = new GovernedEvents(this.#rules, (key, ms) =>
      ms === null ? this.#moments.delete(key) : this.#moments.set(key, ms),
    );
  }

  /** Returns by EventId what becomes of each event of a document that is read at `atMs`, not before the last one. */
  show(events: readonly ScheduledEvent[], atMs: number): ReadonlyMap<string, Judged> {
    this.#passTo(atMs);
    const at: Instant = { wallMs: atMs, elapsedMs: null };
    this.#end(events, atMs);
    for (const event of events) this.#list(event, at);
    const held = this.#allot(at);
    return new Map(
      events.flatMap(({ eventId }) => {
        const life = this.#lives.get(eventId.toLowerCase());
        return life ? [[eventId, this.#judgedOf(life, held.get(life.known.key) ?? [], at)] as const] : [];
      }),
    );
  }

  /** Windows that open or close, deadlines and rests until then. */
  #passTo(atMs: number): void {
    for (;;) {
      for (const [key, life] of this.#lives)
        if (life.approval?.state === 'submitting')
          this.#lives.set(key, { ...life, approval: { ...life.approval, state: 'submitted' } });
      const nowMs = this.#nextMs();
      if (nowMs === null || nowMs > atMs) return;
      const at: Instant = { wallMs: nowMs, elapsedMs: null };
      for (const [key, dueMs] of [...this.#moments]) if (dueMs <= nowMs) this.#fallDue(key, at);
      this.#rests = this.#rests.filter((rest) => this.#rules.allotment.nextRestEndMs([rest], nowMs) !== null);
      this.#allot(at);
    }
  }

  #nextMs(): number | null {
    // A rest that has ended is dropped, so the next one is later than any moment before.
    const restEndMs = this.#rules.allotment.nextRestEndMs(this.#rests, Number.NEGATIVE_INFINITY);
    const moments = [...this.#moments.values(), ...(restEndMs === null ? [] : [restEndMs])];
    return moments.reduce<number | null>((least, ms) => (least === null || ms < least ? ms : least), null);
  }

  #fallDue(key: string, at: Instant): void {
    const life = this.#lives.get(key);
    if (!life?.governed) {
      this.#moments.delete(key);
      return;
    }
    const { known, governed, approval } = life;
    if (governed.dueMs !== null && !governed.isDone && governed.dueMs <= at.wallMs) {
      const after =
        governed.ruling.deadline?.then === 'approve'
          ? withDeadline(this.#rules, approval, { known, governed }, at)
          : approval;
      this.#keep({ known, approval: after, governed: { ...governed, isDone: true } });
    } else this.#review(known, this.#governed.nextOpening({ known, governed }, at), approval, at);
  }

  #end(events: readonly ScheduledEvent[], atMs: number): void {
    const listed = new Set(events.map(({ eventId }) => eventId.toLowerCase()));
    for (const [key, life] of this.#lives) {
      if (listed.has(key)) continue;
      if (isInUse(life)) this.#rests = [...this.#rests, { resources: life.known.event.resources, endedMs: atMs }];
      this.#lives.delete(key);
      this.#governed.forget(life.known);
    }
  }

  #list(event: ScheduledEvent, at: Instant): void {
    const key = event.eventId.toLowerCase();
    const before = this.#lives.get(key);
    const known = { key, occurrence: before?.known.occurrence ?? ++this.#occurrences, event };
    const approval = before?.approval ?? null;
    const isSame = before !== undefined && JSON.stringify(before.known.event) === JSON.stringify(event);
    if (event.eventStatus === 'Started') this.#keep({ known, governed: null, approval });
    else if (!isSame) this.#review(known, this.#governed.applyRules(known, at), approval, at);
  }

  #review(known: Life['known'], governed: Governed, before: EventApproval | null, at: Instant): void {
    this.#keep({ known, governed, approval: review(this.#rules, before, { known, governed }, at).approval });
  }

  #keep(life: Life): void {
    this.#lives.set(life.known.key, life);
    this.#governed.keep(life.known, life.governed);
  }

  /** Approves what fits the budgets, and returns by key what holds back the others. */
  #allot(at: Instant): ReadonlyMap<string, readonly string[]> {
    const waiting = [...this.#lives.values()].flatMap((life) => {
      const { known, governed, approval } = life;
      const after = governed && withAllotment(this.#rules, approval, { known, governed }, at);
      return governed && after ? [{ life, after, budgets: governed.ruling.budgets }] : [];
    });
    if (waiting.length === 0) return new Map();
    const uses = [...this.#lives.values()]
      .filter(isInUse)
      .map(({ known }): Use => ({ resources: known.event.resources, endedMs: null }));
    const candidates = waiting.map(({ life: { known }, budgets }) => ({ key: known.key, event: known.event, budgets }));
    const held = this.#rules.allotment.heldBack([...uses, ...this.#rests], candidates, at.wallMs);
    for (const { life, after } of waiting)
      if (held.get(life.known.key)?.length === 0) this.#keep({ ...life, approval: after });
    return held;
  }

  #judgedOf({ known, governed, approval }: Life, heldBackBy: readonly string[], at: Instant): Judged {
    const turnMs = ({ decision }: EventApproval, at: Instant) => inWindowMs(decision?.window ?? null, 0, at);
    const governedEvent = governed && { known, governed };
    const nextStep = nextStepOf({ rules: this.#rules, approval, governedEvent, heldBackBy, isSeen: true, turnMs, at });
    const outlook = { window: governed?.opening?.window ?? null, nextStep, heldBackBy };
    return { outlook, ruling: governed?.ruling ?? null };
  }
}

function isInUse({ known, approval }: Life): boolean {
  const isApproved = approval?.state === 'submitting' || approval?.state === 'submitted';
  return known.event.eventStatus === 'Started' || isApproved;
}
