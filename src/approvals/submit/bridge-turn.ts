// Group, clocks and known events → when it is this bridge's turn to post, and whether it was.
import type { EventApproval } from '../../model/approvals.ts';
import type { Instant } from '../../model/events.ts';
import { type Deps, now } from '../../time/clock.ts';
import type { ApprovalPorts } from '../ports.ts';
import { turnMs } from '../rules/group-order.ts';
import type { RulesInForce } from '../rules/rules-in-force.ts';
import { FRESH_MS } from './start-queue.ts';

export interface BridgeTurnParts {
  readonly rules: Pick<RulesInForce, 'group'>;
  readonly ports: Pick<ApprovalPorts, 'events' | 'ownName' | 'lastGoodAt'>;
  readonly deps: Deps;
}

export class BridgeTurn {
  readonly #parts: BridgeTurnParts;
  #startedAt: Instant | null = null;

  constructor(parts: BridgeTurnParts) {
    this.#parts = parts;
  }

  /** This process takes up the approvals. */
  begin(): void {
    this.#startedAt = now(this.#parts.deps);
  }

  /** Milliseconds until this bridge posts, 0 where it may; null where it never does. */
  ms(approval: EventApproval, at = now(this.#parts.deps)): number | null {
    const { rules, ports } = this.#parts;
    const event = ports.events().get(approval.key)?.event ?? null;
    return turnMs(approval, event, { group: rules.group, ownName: ports.ownName(), startedAt: this.#startedAt ?? at, at });
  }

  /**
   * Whether a process that ended may have posted this, before this one has read a document. Nothing is posted without a document of the last
   * 10 s, so one whose turn came later than that after its last document did not.
   */
  mayHaveCome(approval: EventApproval): boolean {
    const goodAt = this.#parts.ports.lastGoodAt();
    return this.ms(approval, goodAt === null ? undefined : { wallMs: goodAt.wallMs + FRESH_MS, elapsedMs: null }) === 0;
  }
}
