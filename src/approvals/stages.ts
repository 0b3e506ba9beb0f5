// Options, store and ports → the stages of an approval; each depends only on earlier stages.
import type { EventApproval, MessageResult } from '../model/approvals.ts';
import type { Instant } from '../model/events.ts';
import { isDrill } from '../model/ids.ts';
import type { Deps } from '../time/clock.ts';
import type { ApprovalPorts } from './ports.ts';
import { Allotments } from './record/allotments.ts';
import { Answers } from './record/answers.ts';
import { AuditTrail, type AuditTrailParts } from './record/audit-trail.ts';
import { Commands } from './record/commands.ts';
import { Deadlines } from './record/deadlines.ts';
import { decideWhenDue } from './record/decide-when-due.ts';
import { HoldOfEverything } from './record/hold-of-all.ts';
import { Ledger } from './record/ledger.ts';
import { Refusals } from './record/refusals.ts';
import { Reviews } from './record/reviews.ts';
import { RulesInForce, type RulesOptions } from './rules/rules-in-force.ts';
import { isProtected } from './rules/scope.ts';
import type { ApprovalStore } from './store.ts';
import { BridgeTurn } from './submit/bridge-turn.ts';
import { Submitter } from './submit/submitter.ts';
import { Queries } from './views/queries.ts';

export interface ApprovalsParts extends AuditTrailParts, RulesOptions {
  readonly store: ApprovalStore;
  readonly ports: ApprovalPorts;
  readonly deps: Deps;
  /** Whether each bridge of the group reads the messages of this source. */
  readonly isShared: (source: string) => boolean;
  /** Called with the result of each message of a source, for metrics. */
  readonly onMessage?: (source: string, result: MessageResult) => void;
}

export type Stages = ReturnType<typeof connectStages>;

/** Creates the stages; none of them starts work yet. */
export function connectStages(parts: ApprovalsParts) {
  const rules = new RulesInForce(parts);
  const turn = new BridgeTurn({ ...parts, rules });
  const turnMs = (approval: EventApproval, at?: Instant) => turn.ms(approval, at);
  const auditTrail = new AuditTrail(parts);
  const deadlines = new Deadlines(parts.deps);
  const ledger = new Ledger({ ...parts, rules, deadlines });
  const shared = { ...parts, rules, auditTrail, ledger, turnMs };
  const allotments = new Allotments({ ...shared, deadlines });
  const commands = new Commands(shared);
  const holdOfAll = new HoldOfEverything(shared);
  const reviews = new Reviews({
    ...{ ...shared, allotments },
    mayHavePosted: (approval) => !isDrill(approval.key) && turn.mayHaveCome(approval),
  });
  decideWhenDue({ ...shared, deadlines, reviews });
  const refusals = new Refusals(shared);
  const answers = new Answers({ ...shared, reviews, refusals });
  const submissions = new Submitter({
    ...shared,
    answers,
    isProtected: (approval) => isProtected(approval, rules.approvers),
  });
  return {
    ...{ rules, turn, deadlines, ledger, allotments, commands, holdOfAll, reviews, refusals, submissions },
    views: new Queries({ ...shared, allotments }),
  };
}
