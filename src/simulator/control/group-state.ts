// The answer of `GET /simulator` as types, for the page and for tests.
import type { NotBeforeClock, WireEvent } from '../events/event.ts';

/** Times are RFC 3339 in simulated time, null where there is none. */
export interface GroupState {
  readonly now: string;
  /** Simulated seconds a second. */
  readonly speed: number;
  readonly strict: boolean;
  readonly gpu: boolean;
  /** By which clock the NotBefore of what is scheduled now is listed. */
  readonly notBefore: NotBeforeClock;
  readonly incarnation: number;
  /** `enabling` until events show, which they do at `eventsFrom`. */
  readonly service: { readonly state: 'off' | 'enabling' | 'on'; readonly eventsFrom: string | null };
  readonly vms: readonly { readonly name: string; readonly url: string | null; readonly faultDomain: number }[];
  /** The running one. */
  readonly scenario: { readonly name: string; readonly purpose: string; readonly startedAt: string } | null;
  /** The order at work; `left` is null where its answers are not counted, `then` those of its list that come after it, if any. */
  readonly fault:
    | (Readonly<Record<string, unknown>> & { readonly left: number | null; readonly then?: readonly Readonly<Record<string, unknown>>[] })
    | null;
  /** Listed, in the order in which they were scheduled. */
  readonly events: readonly ListedEvent[];
  /** No longer listed: the last 200. */
  readonly past: readonly PastEvent[];
}

/** An event with what the document does not show of it. */
export interface ListedEvent extends WireEvent {
  /** Lower-cased names of the machines that see it; null for all. */
  readonly seen: readonly string[] | null;
  readonly scheduledAt: string;
  readonly approvedAt: string | null;
  readonly startedAt: string | null;
  /** Its NotBefore in simulated time, whichever clock it is listed by. */
  readonly notBeforeAt: string | null;
  /** When it will start by itself. */
  readonly startsAt: string | null;
  /** When it will be gone by itself. */
  readonly goneAt: string | null;
}

export interface PastEvent extends ListedEvent {
  readonly endedAt: string;
  /** `withdrawn`: taken off whatever its state, by a reset, a new scenario or a recording. */
  readonly end: 'completed' | 'canceled' | 'withdrawn';
}
