// Configured rules → the rules in force, and the decision that governs each Scheduled event.
import type { Instant, KnownEvent, ScheduledEvent } from '../../model/events.ts';
import type { BudgetOptions } from './budgets.ts';
import type { GroupOptions, PolicyOptions, Required, ScopeOptions } from './options.ts';
import { compilePolicy, type Policy, type PolicyDecision } from './policy.ts';
import type { Rules } from './quorum.ts';
import { compileScope } from './scope.ts';
import type { WindowOptions } from './windows.ts';

interface ApproverOptions {
  readonly scope?: ScopeOptions;
  /** May also release the holds of others. */
  readonly admin?: boolean;
}

/** Sinks that hold the events they receive: the name of the sink → its approver. */
export type HoldingSinks = ReadonlyMap<string, string>;

export interface RulesOptions {
  /** By name, in the order of the configuration. */
  readonly approvers: Readonly<Record<string, ApproverOptions>>;
  readonly required: Required;
  readonly policy: PolicyOptions | null;
  /** By name, as `during` of a rule names them. */
  readonly windows: Readonly<Record<string, WindowOptions>>;
  /** By name, as `budgets` of a rule names them. */
  readonly budgets: Readonly<Record<string, BudgetOptions>>;
  readonly group: GroupOptions;
  /** Everything is done except the StartRequest and approval.submitted. */
  readonly dryRun: boolean;
  /** Default: none. */
  readonly holdingSinks?: HoldingSinks;
}

const NO_SINKS: HoldingSinks = new Map();

/** Shared by all stages. Each stage reads the rules on every use, so that a reload takes effect at once. */
export class RulesInForce implements Rules {
  #options: RulesOptions;
  #rules: Rules;

  constructor(options: RulesOptions) {
    this.#options = options;
    this.#rules = compile(options);
  }

  get policy(): Rules['policy'] {
    return this.#rules.policy;
  }

  get scopes(): Rules['scopes'] {
    return this.#rules.scopes;
  }

  get dryRun(): boolean {
    return this.#rules.dryRun;
  }

  get group(): GroupOptions {
    return this.#options.group;
  }

  get holdingSinks(): HoldingSinks {
    return this.#options.holdingSinks ?? NO_SINKS;
  }

  get approvers(): RulesOptions['approvers'] {
    return this.#options.approvers;
  }

  /** Replaces the rules. @returns a function that restores the previous rules */
  replace(options: RulesOptions): () => void {
    const before = { options: this.#options, rules: this.#rules };
    this.#rules = compile(options);
    this.#options = options;
    return () => {
      this.#options = before.options;
      this.#rules = before.rules;
    };
  }
}

function compile({ approvers, policy, required, dryRun }: RulesOptions): Rules {
  const scopes = new Map(Object.entries(approvers).map(([name, { scope }]) => [name, compileScope(scope ?? {})]));
  return { policy: compilePolicy(policy, required), scopes, dryRun };
}

/** The decision that governs a Scheduled event until it changes or the bridge restarts. */
export interface Governed {
  readonly ruling: PolicyDecision;
  readonly since: Instant;
  /** When the deadline expires, in milliseconds since 1970; null without one. */
  readonly dueMs: number | null;
  /** The deadline has expired, or was already past when it was set or moved. It decides nothing any more. */
  readonly isDone: boolean;
}

/** A Scheduled event with the decision that governs it. */
export interface GovernedEvent {
  readonly known: Pick<KnownEvent, 'key' | 'occurrence' | 'event'>;
  readonly governed: Governed;
}

export class GovernedEvents {
  readonly #rules: Pick<Rules, 'policy'>;
  readonly #onDeadline: (key: string, dueMs: number | null) => void;
  /** By key. */
  readonly #governed = new Map<string, { readonly occurrence: number; readonly governed: Governed }>();

  /** `onDeadline` receives the next deadline of an event in milliseconds since 1970, or null if there is none. */
  constructor(rules: Pick<Rules, 'policy'>, onDeadline: (key: string, dueMs: number | null) => void) {
    this.#rules = rules;
    this.#onDeadline = onDeadline;
  }

  /** Returns the event with the decision that governs it, or null if the event is not Scheduled. */
  governedEventOf(known: GovernedEvent['known']): GovernedEvent | null {
    const entry = this.#governed.get(known.key);
    return entry?.occurrence === known.occurrence ? { known, governed: entry.governed } : null;
  }

  /** Applies the current rules to an event after a change or a restart. Stores nothing. */
  applyRules(known: GovernedEvent['known'], at: Instant): Governed {
    return govern(this.#rules.policy, known.event, at, this.governedEventOf(known)?.governed ?? null);
  }

  /** Keeps the decision for an event. `governed` is null if the event is not Scheduled. */
  keep({ key, occurrence }: GovernedEvent['known'], governed: Governed | null): void {
    if (governed === null) this.#governed.delete(key);
    else this.#governed.set(key, { occurrence, governed });
    this.#onDeadline(key, governed === null || governed.isDone ? null : governed.dueMs);
  }

  /** Removes an event that has ended. */
  forget({ key, occurrence }: GovernedEvent['known']): void {
    if (this.#governed.get(key)?.occurrence === occurrence) this.#governed.delete(key);
    this.#onDeadline(key, null);
  }
}

/**
 * Returns the decision of the policy for an event. `isDone` stays as it is if neither the deadline nor the content of
 * the rule has changed.
 * @param before the previous decision for this occurrence; null when the event is first seen and at a restart
 */
export function govern(policy: Policy, event: ScheduledEvent, at: Instant, before: Governed | null): Governed {
  const ruling = policy(event, at.wallMs);
  const dueMs =
    ruling.deadline && event.notBefore !== null ? Date.parse(event.notBefore) - ruling.deadline.beforeMs : null;
  const isSame = before?.dueMs === dueMs && before.ruling.rule === ruling.rule;
  return { ruling, dueMs, since: at, isDone: isSame ? before.isDone : dueMs === null || dueMs <= at.wallMs };
}

export function isPast({ notBefore }: ScheduledEvent, nowMs: number): boolean {
  return notBefore !== null && Date.parse(notBefore) <= nowMs;
}
