// What a lane asks of the durable store; the outbox provides it.
import type { DeadLetterReason, Delivery } from '../model.ts';

/** What became of one attempt; `accepted` and `dead` end the row. */
export type Settlement =
  | { readonly seq: number; readonly result: 'accepted' }
  | { readonly seq: number; readonly result: 'failed'; readonly status: number | string | null }
  | { readonly seq: number; readonly result: 'dead'; readonly reason: DeadLetterReason; readonly status: number | string | null };

/** A sink that takes nothing until its configuration changes. */
export interface Retirement {
  readonly reason: string;
  readonly atMs: number;
}

export interface LaneStore {
  /** Rows still to be delivered to `sink`, in queue order, of partition keys not named in `except`; at most `limit`. */
  queued(sink: string, except: readonly string[], limit: number): readonly Delivery[];
  /** Rows queued at or before `queuedBeforeMs`, in queue order; at most `limit`. For a retired sink, whose old rows expire unattempted. */
  queuedBefore(sink: string, queuedBeforeMs: number, limit: number): readonly Delivery[];
  /** One transaction. Durable where a row was dead-lettered; an acceptance may be lost with the machine's power, which costs a repeat. */
  settle(sink: string, settlements: readonly Settlement[], atMs: number): void;
  /** Null where the sink is not retired. */
  retirement(sink: string): Retirement | null;
  /** Durable. */
  retire(sink: string, retirement: Retirement): void;
}
