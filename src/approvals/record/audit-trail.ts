// Changes to approvals → record, CloudEvents and log lines, written in the caller's transaction.
import type { Logger } from 'pino';
import type { ApprovalOrigin, ApprovalStep, ApprovalStepName, EventApproval } from '../../model/approvals.ts';
import type { ApprovalChange, ApprovalPhase, Instant } from '../../model/events.ts';
import { approvalChangeId, unusedId } from '../../model/ids.ts';
import { type Deps, now } from '../../time/clock.ts';
import type { ApprovalPorts } from '../ports.ts';
import { keyOf } from '../requests/start-requests.ts';
import type { GovernedEvent } from '../rules/governed.ts';
import type { ApprovalStore, ApprovalTransaction } from '../store.ts';
import { isPassedBy } from './approval-state.ts';
import { stepsBetween } from './audit-steps.ts';
import type { VoidVote } from './transitions.ts';

/** An event that a metric counts. `denied`: a request was refused. */
export type ApprovalEventName = ApprovalStepName | 'denied';

export interface AuditTrailParts {
  readonly store: Pick<ApprovalStore, 'journal'>;
  readonly ports: Pick<ApprovalPorts, 'observerId'>;
  readonly logger: Logger;
  /** For metrics. */
  readonly onEvent?: (name: ApprovalEventName) => void;
}

/** The effect of one command or document on the approvals of one event. */
export interface AuditEntry {
  readonly known: GovernedEvent['known'];
  readonly before: EventApproval | null;
  readonly after: EventApproval | null;
  readonly steps: readonly ApprovalStep[];
  readonly changes: readonly ApprovalChange[];
}

interface VerdictFacts {
  readonly known: GovernedEvent['known'];
  /** The approvals as they were posted. */
  readonly posted: EventApproval;
  readonly before: EventApproval;
  readonly after: EventApproval;
  /** The answer of the metadata service. */
  readonly status: number;
  readonly at: Instant;
}

/** A change to approvals in two steps: written in the caller's transaction, then applied in memory. */
export interface Pending {
  /** False if there is nothing to write. */
  readonly isNews: boolean;
  readonly write: (transaction: ApprovalTransaction) => void;
  readonly apply: () => void;
}

export const NO_CHANGE: Pending = { isNews: false, write: () => {}, apply: () => {} };

/** Combines the changes into one, in order. */
export function together(parts: readonly Pending[]): Pending {
  return {
    isNews: parts.some(({ isNews }) => isNews),
    write: (transaction) => {
      for (const { write } of parts) write(transaction);
    },
    apply: () => {
      for (const { apply } of parts) apply();
    },
  };
}

export class AuditTrail {
  readonly #parts: AuditTrailParts;

  constructor(parts: AuditTrailParts) {
    this.#parts = parts;
  }

  /** Returns the entry for a command, with an `approval.recorded` for each new vote. */
  entry(
    known: GovernedEvent['known'],
    before: EventApproval | null,
    after: EventApproval,
    at: Instant,
    by?: ApprovalOrigin,
  ): AuditEntry {
    const steps = stepsBetween(before, after, { atMs: at.wallMs, ...(by && { by }) });
    const recorded = steps.filter(({ step }) => step === 'recorded');
    const changes = recorded.map(({ approver }) =>
      this.#change('recorded', known, after, { approver, reason: null, at }),
    );
    return { known, before, after, steps, changes };
  }

  /** Returns the entry for a document or a restart, with an `approval.failed` for each void vote. */
  review(
    known: GovernedEvent['known'],
    before: EventApproval | null,
    after: EventApproval | null,
    voided: readonly VoidVote[],
    at: Instant,
  ): AuditEntry {
    if (after === null || after === before) return { known, before, after, steps: [], changes: [] };
    const changes = voided.map(({ vote: { approver }, reason }) =>
      this.#change('failed', known, after, { approver, reason, at }),
    );
    return { known, before, after, steps: stepsBetween(before, after, { atMs: at.wallMs }), changes };
  }

  /**
   * Returns the entry for the final answer to a StartRequest. It is published, unless the approval is moot or unknown.
   */
  verdict({ known, posted, before, after, status, at }: VerdictFacts): AuditEntry {
    const steps = stepsBetween(before, after, { atMs: at.wallMs, status });
    const hasFailed = after.state === 'failed';
    const [first, ...others] = posted.decision?.by === 'quorum' ? posted.votes : [];
    const facts = {
      approver: others.length === 0 ? (first?.approver ?? null) : null,
      reason: hasFailed ? 'refused' : null,
      at,
    };
    const changes = isPassedBy(after.state)
      ? []
      : [this.#change(hasFailed ? 'failed' : 'submitted', known, after, facts)];
    return { known, before, after, steps, changes };
  }

  #write(transaction: ApprovalTransaction, entries: readonly AuditEntry[]): void {
    for (const { known, before, after, steps } of entries) {
      if (after !== null && after !== before) transaction.saveApproval(after);
      if (steps.length > 0) transaction.addSteps(known.occurrence, steps);
    }
    const changes = entries.flatMap((entry) => entry.changes);
    if (changes.length > 0) transaction.publish(changes);
  }

  /** Returns the entries as one change, with its effect in memory. */
  pending(entries: readonly AuditEntry[], apply: () => void): Pending {
    return {
      isNews: entries.some(({ before, after, steps }) => after !== before || steps.length > 0),
      write: (transaction) => this.#write(transaction, entries),
      apply: () => {
        for (const entry of entries) this.#report(entry);
        apply();
      },
    };
  }

  /** Logs and counts the steps. */
  #report({ known: { event, occurrence }, after, steps }: AuditEntry): void {
    const { onEvent, logger } = this.#parts;
    for (const { step, approver, policy, status, reason } of steps) {
      onEvent?.(step);
      const approvers = approver === null ? (after?.votes ?? []).map((vote) => vote.approver) : [approver];
      // A refused approval stays failed until an approver approves again, or for a minute if a rule decided it.
      logger[step === 'failed' ? 'error' : 'info'](
        { eventId: event.eventId, occurrence, approvers, policy, status, reason },
        `approval ${step}`,
      );
    }
  }

  #change(
    phase: ApprovalPhase,
    { key, occurrence, event }: GovernedEvent['known'],
    { policy, decision }: EventApproval,
    facts: Pick<ApprovalChange, 'approver' | 'reason' | 'at'>,
  ): ApprovalChange {
    const { ports, store } = this.#parts;
    const context = { observerId: ports.observerId(), isUsed: (id: string) => store.journal.isUsed(id) };
    const rule = phase === 'recorded' || decision?.by == null ? null : policy;
    return approvalChange(phase, { key, eventId: event.eventId, occurrence, event, policy: rule, ...facts }, context);
  }
}

interface ChangeContext {
  readonly observerId: string;
  /** Whether a CloudEvent id is already in use. */
  readonly isUsed: (id: string) => boolean;
}

/**
 * Returns a change with an unused id. Store it before another change of the same phase, event and approver is created.
 */
function approvalChange(
  phase: ApprovalPhase,
  facts: Omit<ApprovalChange, 'kind' | 'phase' | 'id'>,
  { observerId, isUsed }: ChangeContext,
): ApprovalChange {
  const id = unusedId(approvalChangeId(phase, facts.key, facts.approver, observerId), isUsed);
  return { kind: 'approval', phase, id, ...facts };
}

/**
 * Returns the `approval.failed` of an approval that was refused before it was recorded. `eventId`: as the sender wrote
 * it.
 */
export function refusedChange(
  {
    approver,
    eventId: asWritten,
    reason,
  }: { readonly approver: string; readonly eventId: string; readonly reason: string },
  {
    store,
    ports,
    deps,
  }: {
    readonly store: Pick<ApprovalStore, 'journal'>;
    readonly ports: Pick<ApprovalPorts, 'events' | 'observerId'>;
    readonly deps: Deps;
  },
): ApprovalChange {
  const key = keyOf(asWritten);
  const { occurrence = null, event = null } = ports.events().get(key) ?? {};
  const eventId = event?.eventId ?? asWritten.toWellFormed();
  const context = { observerId: ports.observerId(), isUsed: (id: string) => store.journal.isUsed(id) };
  return approvalChange(
    'failed',
    { key, eventId, occurrence, event, approver, policy: null, reason, at: now(deps) },
    context,
  );
}
