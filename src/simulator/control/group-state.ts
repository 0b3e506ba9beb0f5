// Types of the answer of `GET /simulator`; published, so they import no part of the server.
import type { NotBeforeClock, WireEvent } from '../events/event.ts';

/** The state of a group. Times are RFC 3339, in simulated time; null if there is none. */
export interface GroupState {
  readonly now: string;
  /** Simulated seconds per second. */
  readonly speed: number;
  readonly strict: boolean;
  readonly gpu: boolean;
  /** The clock in which NotBefore of newly scheduled events is listed. */
  readonly notBefore: NotBeforeClock;
  readonly incarnation: number;
  /** `enabling` until events are listed, from `eventsFrom` on. */
  readonly service: { readonly state: 'off' | 'enabling' | 'on'; readonly eventsFrom: string | null };
  readonly vms: readonly { readonly name: string; readonly url: string | null; readonly faultDomain: number }[];
  /** The running scenario. */
  readonly scenario: { readonly name: string; readonly purpose: string; readonly startedAt: string } | null;
  /**
   * The active fault order. `left` is null if answers are not counted; `then` has the later orders of its list, if any.
   */
  readonly fault:
    | (Readonly<Record<string, unknown>> & {
        readonly left: number | null;
        readonly then?: readonly Readonly<Record<string, unknown>>[];
      })
    | null;
  /** The events that are not over, in the order in which they were scheduled. */
  readonly events: readonly ListedEvent[];
  /** The last 200 events that are over. */
  readonly past: readonly PastEvent[];
}

/** An event, with facts that the document does not show. */
export interface ListedEvent extends WireEvent {
  /** Names of the machines that see it, in lower case; null for all. */
  readonly seen: readonly string[] | null;
  readonly scheduledAt: string;
  readonly approvedAt: string | null;
  readonly startedAt: string | null;
  /** NotBefore in simulated time, whichever clock it is listed in. */
  readonly notBeforeAt: string | null;
  /** When it starts by itself. */
  readonly startsAt: string | null;
  /** When it ends by itself. */
  readonly goneAt: string | null;
}

export interface PastEvent extends ListedEvent {
  readonly endedAt: string;
  /** `withdrawn`: removed in any state, by a reset, a new scenario or a recording. */
  readonly end: 'completed' | 'canceled' | 'withdrawn';
}
