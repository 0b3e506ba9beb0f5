// Refused StartRequests → decisions of rules are made again after a minute.
import { messageOf } from '../../errors.ts';
import type { EventApproval } from '../../model/approvals.ts';
import { ageMs, type CancelTimer, now } from '../../time/clock.ts';
import type { GovernedEvent } from '../rules/governed.ts';
import type { AuditEntry } from './audit-trail.ts';
import { isDecidedByRule, settled } from './decisions.ts';
import type { RecordParts } from './ledger.ts';

/** No approver repeats the decision of a rule, so the bridge does (behaviour 8.16). */
export const AGAIN_AFTER_MS = 60_000;

interface Refused {
  readonly occurrence: number;
  /** The status of the last refusal that was reported. */
  readonly status: number;
  /** Whether the bridge itself decided again: the same answer is not reported again. */
  isAgain: boolean;
  cancel: CancelTimer;
}

export class Refusals implements Disposable {
  readonly #parts: RecordParts;
  /** By key. */
  readonly #refused = new Map<string, Refused>();
  #isClosed = false;

  constructor(parts: RecordParts) {
    this.#parts = parts;
  }

  /**
   * Returns the entry without lines and CloudEvents if the bridge itself posted again and the status is the same as
   * before.
   */
  withoutRepeat(entry: AuditEntry, status: number): AuditEntry {
    const { key, occurrence } = entry.known;
    const earlier = this.#refused.get(key);
    const isRepeat = earlier?.occurrence === occurrence && earlier.isAgain && earlier.status === status;
    return isRepeat ? { ...entry, steps: [], changes: [] } : entry;
  }

  /**
   * Adds an approval that is on disk as `failed`. If a rule decides it too, the decision is made again after a minute.
   */
  add({ key, occurrence }: EventApproval, status: number): void {
    const isFirst = this.#refused.get(key)?.isAgain !== true;
    this.forget(key);
    const refused: Refused = { occurrence, status, isAgain: false, cancel: () => {} };
    this.#refused.set(key, refused);
    const found = this.#failed(key, refused);
    if (found === null || this.#isClosed) return;
    if (isFirst) {
      const { eventId } = found.governedEvent.known.event;
      this.#parts.logger.warn(
        { eventId, status },
        'the metadata service refused the decision of a rule: the bridge posts it again each minute while the event is Scheduled',
      );
    }
    refused.cancel = this.#parts.deps.after(AGAIN_AFTER_MS, () => this.#again(key, refused));
  }

  /** To be called when an approval is no longer `failed`: its next refusal is reported, whatever its status. */
  forget(key: string): void {
    this.#refused.get(key)?.cancel();
    this.#refused.delete(key);
  }

  /** To be called after each document: retries decisions that could not be stored when their minute was over. */
  lookAgain(): void {
    const at = now(this.#parts.deps);
    for (const [key, refused] of [...this.#refused]) {
      const found = this.#failed(key, refused);
      if (found !== null && ageMs(found.approval.at, at) >= AGAIN_AFTER_MS) this.#again(key, refused);
    }
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const { cancel } of this.#refused.values()) cancel();
    this.#refused.clear();
  }

  #again(key: string, refused: Refused): void {
    const { rules, ledger, auditTrail, deps, logger } = this.#parts;
    const found = this.#failed(key, refused);
    if (found === null) return;
    const { approval, governedEvent } = found;
    const at = now(deps);
    const after = settled(rules, approval, governedEvent, at);
    const decided = auditTrail.pending([auditTrail.entry(governedEvent.known, approval, after, at)], () => {
      refused.isAgain = true;
      ledger.keep(after);
    });
    try {
      ledger.commit([decided]);
    } catch (error) {
      // The store logs its own faults. The next document retries.
      logger.error(
        { eventId: governedEvent.known.event.eventId, reason: messageOf(error) },
        'a refused decision could not be made again; the bridge will retry it',
      );
    }
  }

  /**
   * Returns null if there is nothing to decide again: the approval is not `failed`, the event is not Scheduled, or no
   * rule decides it.
   */
  #failed(
    key: string,
    { occurrence }: Refused,
  ): { readonly approval: EventApproval; readonly governedEvent: GovernedEvent } | null {
    const { ledger, ports } = this.#parts;
    const approval = ledger.approvalOf(key, occurrence);
    const known = ports.events().get(key);
    const governedEvent = known?.occurrence === occurrence ? ledger.governedEventOf(known) : null;
    if (approval === null || governedEvent === null) this.forget(key);
    if (approval?.state !== 'failed' || governedEvent === null) return null;
    return isDecidedByRule(approval, governedEvent.governed, now(this.#parts.deps))
      ? { approval, governedEvent }
      : null;
  }
}
