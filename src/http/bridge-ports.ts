// What the routes of `/v1` ask of the bridge: types alone.

import type { Caller } from '../auth/caller.ts';
import type { RecordRange } from '../model/approvals.ts';
import type { Problem } from './problem.ts';

/** What `GET /v1/events` shows. */
export interface EventsView {
  readonly state: 'watching' | 'enabling' | 'blind';
  readonly documentIncarnation: number | null;
  /** RFC 3339; null before the first good document. */
  readonly observedAt: string | null;
  /** The `data` of a CloudEvent of each event, and `approval`. */
  readonly events: readonly object[];
}

/** The problem that decided. */
export type Refused = { readonly kind: 'refusal' } & Problem;

export type ApprovalReply = { readonly kind: 'results'; readonly status: number; readonly results: readonly object[] } | Refused;
export type HoldReply = { readonly kind: 'held'; readonly status: number; readonly hold: object } | Refused;
export type ReleaseReply = { readonly kind: 'released' } | Refused;
/** The record of an event's approval has no `kind`. */
export type LifeReply = { readonly kind?: never; readonly eventId: string } | Refused;

/** Each rejects with BRIDGE_STORE_* or BRIDGE_APPROVALS_* where it cannot answer now. */
export interface ApprovalPorts {
  /** False: nobody may approve through this endpoint. */
  readonly configured: boolean;
  /** `body` is the JSON value as it came. */
  request(caller: Caller, body: unknown): Promise<ApprovalReply>;
  /** `body` is the JSON value as it came. */
  hold(caller: Caller, body: unknown): HoldReply | Promise<HoldReply>;
  /** `holder`: whose hold; null where none was named. `beforeMs`: none that was set later, in milliseconds since 1970; null for any. */
  release(caller: Caller, eventId: string, holder: string | null, beforeMs: number | null): ReleaseReply | Promise<ReleaseReply>;
  /** `range`: which part of the record. */
  life(eventId: string, range: RecordRange): LifeReply | Promise<LifeReply>;
}

export interface BridgePorts {
  events(): EventsView;
  readonly approvals: ApprovalPorts;
}
