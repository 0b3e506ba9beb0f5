// Configured rules → the rules in force, which a reload replaces.
import { type BudgetOptions, compileAllotment } from './budgets.ts';
import type { GroupOptions, PolicyOptions, Required, ScopeOptions } from './options.ts';
import { compilePolicy } from './policy.ts';
import type { Rules } from './quorum.ts';
import { compileScope } from './scope.ts';
import { compileCalendar, type WindowOptions } from './windows.ts';

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

  get calendar(): Rules['calendar'] {
    return this.#rules.calendar;
  }

  get allotment(): Rules['allotment'] {
    return this.#rules.allotment;
  }

  get dryRun(): boolean {
    return this.#rules.dryRun;
  }

  get windows(): RulesOptions['windows'] {
    return this.#options.windows;
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

function compile({ approvers, policy, required, windows, budgets, dryRun }: RulesOptions): Rules {
  const scopes = new Map(Object.entries(approvers).map(([name, { scope }]) => [name, compileScope(scope ?? {})]));
  return {
    policy: compilePolicy(policy, required),
    calendar: compileCalendar(windows),
    allotment: compileAllotment(budgets),
    ...{ scopes, dryRun },
  };
}
