// Names in use, and events that wait → the budgets that hold each of them back. Pure.
import { compileGlobs } from '../../conditions/globs.ts';
import type { ScheduledEvent } from '../../model/events.ts';

export interface BudgetOptions {
  /** Globs for names in Resources, without case. Other names are not counted. */
  readonly resources: readonly string[];
  /** The maximum number of names in use at a time, at least 1. */
  readonly atMost: number;
  /** How long the names of an event stay in use after its end. */
  readonly restMs: number;
}

/** An event that a rule with budgets would approve now. */
export interface Candidate {
  /** The EventId in lower case. */
  readonly key: string;
  readonly event: Pick<ScheduledEvent, 'notBefore' | 'resources'>;
  /** The budgets of its rule. */
  readonly budgets: readonly string[];
}

/** An event whose names are in use: it is approved or Started, or it rests after its end. */
export interface Use {
  readonly resources: readonly string[];
  /** Its end in milliseconds since 1970; null if it has not ended. */
  readonly endedMs: number | null;
}

export interface Allotment {
  /** Returns, for each candidate by key, the budgets that hold it back; an empty list if it may be approved now. */
  heldBack(
    uses: readonly Use[],
    candidates: readonly Candidate[],
    nowMs: number,
  ): ReadonlyMap<string, readonly string[]>;
  /** Returns each machine in use of a budget, once, with the use that ends last. Null: no such budget. */
  inUse<U extends Use>(name: string, uses: readonly U[], nowMs: number): BudgetInUse<U> | null;
  /** Returns when the next use ends by `rest` after `nowMs`, in milliseconds since 1970; null if none does. */
  nextRestEndMs(uses: readonly Use[], nowMs: number): number | null;
}

/** What is in use of a budget. */
export interface BudgetInUse<U extends Use> {
  readonly atMost: number;
  readonly machines: readonly {
    /** In lower case. */
    readonly name: string;
    readonly use: U;
    /** In milliseconds since 1970; null if the event has not ended. */
    readonly untilMs: number | null;
  }[];
}

interface Budget {
  readonly atMost: number;
  readonly restMs: number;
  /** Returns the names that count, in lower case. */
  namesOf(event: Pick<ScheduledEvent, 'resources'>): ReadonlySet<string>;
}

/**
 * Candidates are tried in the order of NotBefore, those without one last, then of their keys. One that may be approved
 * is in use for those behind it; one that is held back does not stop them. So each bridge of a group decides alike.
 */
export function compileAllotment(options: Readonly<Record<string, BudgetOptions>>): Allotment {
  const budgets = new Map(Object.entries(options).map(([name, each]) => [name, compileBudget(each)]));
  const heldBack: Allotment['heldBack'] = (uses, candidates, nowMs) => {
    const used = new Map(
      [...budgets].map(([name, budget]) => {
        const inUse = uses.filter(({ endedMs }) => endedMs === null || nowMs < endedMs + budget.restMs);
        return [name, new Set(inUse.flatMap((use) => [...budget.namesOf(use)]))];
      }),
    );
    const held = new Map<string, readonly string[]>();
    for (const { key, event, budgets: names } of candidates.toSorted(byUrgency)) {
      const exceeded = names.filter((name) => {
        const budget = budgets.get(name);
        return budget !== undefined && !fits(budget.atMost, used.get(name) ?? new Set(), budget.namesOf(event));
      });
      held.set(key, exceeded);
      if (exceeded.length > 0) continue;
      for (const [name, budget] of budgets) for (const own of budget.namesOf(event)) used.get(name)?.add(own);
    }
    return held;
  };
  const inUse: Allotment['inUse'] = (name, uses, nowMs) => {
    const budget = budgets.get(name);
    return budget === undefined ? null : { atMost: budget.atMost, machines: machinesOf(budget, uses, nowMs) };
  };
  const nextRestEndMs: Allotment['nextRestEndMs'] = (uses, nowMs) => {
    const ends = uses.flatMap(({ endedMs }) =>
      endedMs === null ? [] : [...budgets.values()].map(({ restMs }) => endedMs + restMs),
    );
    const ahead = ends.filter((endMs) => endMs > nowMs);
    return ahead.length === 0 ? null : Math.min(...ahead);
  };
  return { heldBack, inUse, nextRestEndMs };
}

function machinesOf<U extends Use>(budget: Budget, uses: readonly U[], nowMs: number): BudgetInUse<U>['machines'] {
  const machines = uses
    .map((use) => ({ use, untilMs: use.endedMs === null ? null : use.endedMs + budget.restMs }))
    .filter(({ untilMs }) => untilMs === null || nowMs < untilMs)
    .toSorted((one, other) => (one.untilMs ?? Infinity) - (other.untilMs ?? Infinity))
    .flatMap((each) => [...budget.namesOf(each.use)].map((name) => [name, { name, ...each }] as const));
  return [...new Map(machines).values()];
}

/** An event whose own names alone exceed the budget fits if no other name is in use. */
function fits(atMost: number, used: ReadonlySet<string>, own: ReadonlySet<string>): boolean {
  const others = [...used].filter((name) => !own.has(name)).length;
  return own.size === 0 || others + own.size <= atMost || others === 0;
}

function compileBudget({ resources, atMost, restMs }: BudgetOptions): Budget {
  const { any } = compileGlobs(resources);
  const counts = (name: string) => any([name]);
  return {
    atMost,
    restMs,
    namesOf: (event) => new Set(event.resources.filter(counts).map((name) => name.toLowerCase())),
  };
}

function byUrgency(one: Candidate, other: Candidate): number {
  return notBeforeMs(one) - notBeforeMs(other) || (one.key < other.key ? -1 : 1);
}

function notBeforeMs({ event: { notBefore } }: Candidate): number {
  return notBefore === null ? Number.MAX_SAFE_INTEGER : Date.parse(notBefore);
}
