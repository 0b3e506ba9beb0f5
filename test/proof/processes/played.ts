// What is played in a world, and all that was seen of it from outside.
import { contentText, hexOf, keyOf } from '../simulation/oracle/listed-event.ts';
import type { BridgeProcess } from './bridge-process.ts';
import type { Arrival } from './far-sides.ts';
import type { Fault } from './fault.ts';
import type { MetadataService } from './metadata.ts';
import type { Step } from './story.ts';
import type { Waits } from './waits.ts';

export interface WorldPlan {
  /** Unique within a run. */
  readonly name: string;
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** A kill in each step, at a drawn moment. */
  readonly killsInEachStep: boolean;
  /** Also a search store, Service Bus and, if there is one, Kafka. */
  readonly hasBrokers: boolean;
}

/** A fault as it was played, in ms of `performance.now()`. */
export interface PlayedFault {
  readonly fault: Fault;
  readonly fromMs: number;
  toMs: number;
  hasBitten: boolean;
}

/** What an older release left for the sink `away`. */
export interface Owed {
  readonly id: string;
  readonly body: string;
}

export interface Played {
  readonly plan: WorldPlan;
  readonly steps: readonly Step[];
  readonly faults: readonly PlayedFault[];
  readonly service: MetadataService;
  readonly bridge: BridgeProcess;
  readonly arrivals: ReadonlyMap<string, readonly Arrival[]>;
  readonly owed: readonly Owed[];
  /** What did not come in time, in words; empty if all did. */
  readonly missing: readonly string[];
  /** The exit code at the end. */
  readonly code: number | null;
  /** When the approver first said yes; null if it never came so far. */
  readonly approvedMs: number | null;
  /** When the bridge, or this process with its far sides, waited for a processor. */
  readonly waits: Waits;
}

export function idOf({ phase, event }: Step): string {
  return `${keyOf(event.EventId)}:${phase}${phase === 'updated' ? `:${hexOf(contentText(event), 16)}` : ''}`;
}

/** An empty text if this is not a CloudEvent. */
export function idIn(text: string): string {
  return /"id":"([^"]+)"/.exec(text)?.[1] ?? '';
}
