// What a lane asks of the durable store; the outbox provides it.
import type { Delivery, Retirement, Settlement } from '../model/events.ts';

export interface LaneStore {
  /** Rows still to be delivered to `sink`, in queue order, of partition keys not named in `except`; at most `limit`. */
  queued(sink: string, except: readonly string[], limit: number): readonly Delivery[];
  /** As `queued`, but rows of events that are known now come first, the most urgent event's before all others; each key's in queue order. */
  queuedByUrgency(sink: string, except: readonly string[], limit: number): readonly Delivery[];
  /** Rows queued at or before `queuedBeforeMs`, in queue order; at most `limit`. For a retired sink, whose old rows expire unattempted. */
  queuedBefore(sink: string, queuedBeforeMs: number, limit: number): readonly Delivery[];
  /** One transaction. Durable where a row was dead-lettered; an acceptance may be lost with the machine's power, which costs a repeat. */
  settle(sink: string, settlements: readonly Settlement[], atMs: number): void;
  /** Null where the sink is not retired. */
  retirement(sink: string): Retirement | null;
  /** What `saveRequests` was given last; null before. */
  requests(sink: string): string | null;
  /** Outlives the process, but perhaps not a loss of power. */
  saveRequests(sink: string, requests: string): void;
  /** Durable. */
  retire(sink: string, retirement: Retirement): void;
}
