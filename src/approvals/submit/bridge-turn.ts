// Group, clocks and known events → when this bridge may post, and whether it may have already.
import type { EventApproval } from '../../model/approvals.ts';
import type { Instant } from '../../model/events.ts';
import { isDrill } from '../../model/ids.ts';
import { now } from '../../time/clock.ts';
import type { RecordParts } from '../record/ledger.ts';
import { inWindowMs, turnMs } from '../rules/group-order.ts';
import { FRESH_MS } from './start-queue.ts';

type BridgeTurnParts = Pick<RecordParts, 'rules' | 'ports' | 'deps'>;

export class BridgeTurn {
  readonly #parts: BridgeTurnParts;
  #startedAt: Instant | null = null;

  constructor(parts: BridgeTurnParts) {
    this.#parts = parts;
  }

  /** To be called when this process starts to handle approvals. */
  begin(): void {
    this.#startedAt = now(this.#parts.deps);
  }

  /** Returns the milliseconds until this bridge may post, 0 if it may post now, or null if it never does. */
  ms(approval: EventApproval, at = now(this.#parts.deps)): number | null {
    return inWindowMs(approval.decision?.window ?? null, this.#rankMs(approval, at), at);
  }

  /**
   * Returns whether an earlier process may have posted this approval. Call it before this process has read a document.
   * A process posts only within 10 s of its last document, and it has ended by now. If the wall clock was set back since
   * that document, the time of its end is unknown.
   */
  mayHaveCome(approval: EventApproval): boolean {
    const { ports, deps } = this.#parts;
    const { wallMs: nowMs } = now(deps);
    const goodMs = ports.lastGoodAt()?.wallMs ?? nowMs;
    const lastMs = nowMs < goodMs ? goodMs + FRESH_MS : Math.min(goodMs + FRESH_MS, nowMs);
    return this.#rankMs(approval, { wallMs: lastMs, elapsedMs: null }) === 0;
  }

  /** As `ms`, whatever the window of the rule: it may have closed since. */
  #rankMs(approval: EventApproval, at: Instant): number | null {
    // A drill exists on this bridge only, so it waits for no other one.
    if (isDrill(approval.key)) return 0;
    const { rules, ports } = this.#parts;
    const event = ports.events().get(approval.key)?.event ?? null;
    return turnMs(approval, event, {
      group: rules.group,
      ownName: ports.ownName(),
      startedAt: this.#startedAt ?? at,
      at,
    });
  }
}
