// The rules of the configuration → those by which approvals are judged now; a reload brings others.
import type { GroupOptions, PolicyOptions, Required, ScopeOptions } from './options.ts';
import { compilePolicy } from './policy.ts';
import type { Rules } from './quorum.ts';
import { compileScope } from './scope.ts';

export interface ApproverOptions {
  readonly scope?: ScopeOptions;
  /** May release the holds of others, too. */
  readonly admin?: boolean;
}

/** By name: sinks that hold the events that they are sent, and in whose name. */
export type HoldingSinks = ReadonlyMap<string, string>;

/** As the configuration has them. */
export interface RulesOptions {
  /** By name, in the order of the configuration. */
  readonly approvers: Readonly<Record<string, ApproverOptions>>;
  readonly required: Required;
  readonly policy: PolicyOptions | null;
  readonly group: GroupOptions;
  /** Everything but the StartRequest and approval.submitted. */
  readonly dryRun: boolean;
  /** None by default. */
  readonly holdingSinks?: HoldingSinks;
}

const NO_SINKS: HoldingSinks = new Map();

/** One for all stages, each of which asks it anew each time. */
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

  /** From now on these. @returns what brings back the ones before */
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
