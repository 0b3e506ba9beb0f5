// Policy and Scheduled events → the decision for each, and when deadlines fall due (behaviour 8.5).
import type { Instant } from '../../model/events.ts';
import { type Governed, type GovernedEvent, govern } from './governed-event.ts';
import type { Policy } from './policy.ts';

export class GovernedEvents {
  readonly #policy: Policy;
  readonly #onDeadline: (key: string, dueMs: number | null) => void;
  /** By key. */
  readonly #governed = new Map<string, { readonly occurrence: number; readonly governed: Governed }>();

  /** `onDeadline`: when the deadline of an event falls due, in milliseconds since 1970; null where none lies ahead. */
  constructor(policy: Policy, onDeadline: (key: string, dueMs: number | null) => void) {
    this.#policy = policy;
    this.#onDeadline = onDeadline;
  }

  /** The event with what governs it; null where it is not Scheduled. */
  matterOf(known: GovernedEvent['known']): GovernedEvent | null {
    const entry = this.#governed.get(known.key);
    return entry?.occurrence === known.occurrence ? { known, governed: entry.governed } : null;
  }

  /** The event after a change, or at a start, under the rules of now. Keeps nothing. */
  judge(known: GovernedEvent['known'], at: Instant): Governed {
    return govern(this.#policy, known.event, at, this.matterOf(known)?.governed ?? null);
  }

  /** Null: it is not Scheduled. */
  keep({ key, occurrence }: GovernedEvent['known'], governed: Governed | null): void {
    if (governed === null) this.#governed.delete(key);
    else this.#governed.set(key, { occurrence, governed });
    this.#onDeadline(key, governed === null || governed.isDone ? null : governed.dueMs);
  }

  /** The event has ended. */
  forget({ key, occurrence }: GovernedEvent['known']): void {
    if (this.#governed.get(key)?.occurrence === occurrence) this.#governed.delete(key);
    this.#onDeadline(key, null);
  }
}
