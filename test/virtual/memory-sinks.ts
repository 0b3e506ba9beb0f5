// A kind of sink in memory → what its far sides took and when; each answers as a test says.

import * as v from 'valibot';
import type { Adapter, AdapterDefinition, DeliveryNotes, EventsInView, SinkApprover } from '../../adapters/adapter.ts';
import { BridgeError } from '../../src/errors.ts';
import type { Delivery, RunningWork } from '../../src/model/deliveries.ts';
import { affects } from '../../src/model/ids.ts';
import type { VmMetadata } from '../../src/model/vm-metadata.ts';
import { deprecated } from '../../src/schema/deprecated.ts';
import { type Answer, accept } from './scripted-adapter.ts';

/** The status of a failure whose delivery arrived all the same: its answer was lost. */
export const ANSWER_LOST = 'ANSWER_LOST';

/** A CloudEvent that the far side has, whatever the bridge knows of it. */
export interface Arrival {
  readonly id: string;
  readonly change: string;
  readonly partitionKey: string;
  /** The CloudEvent as it came. */
  readonly text: string;
  /** Virtual wall time. */
  readonly atMs: number;
  /** That of the configuration by which it was sent. */
  readonly label: string;
}

/** Who receives under one sink's name. */
export class FarSide {
  /** What it answers; 'accepted' and ANSWER_LOST make an arrival. */
  answer: Answer = accept;
  readonly arrivals: Arrival[] = [];
  /** What its adapter's `close` waits for. */
  close: () => Promise<void> = async () => {};
  /** Those of the running process; null before the first. */
  notes: DeliveryNotes | null = null;
  /** What the running process tells its adapter of events; null before the first. */
  view: EventsInView | null = null;
  /** The running process tells its adapter these values of secrets; none before the first. */
  secrets: () => readonly string[] = () => [];
  /** What its adapter says of each delivery under way. */
  last: string | null = null;
  /** Calls so far. */
  calls = 0;
  readonly wallMs: () => number;

  constructor(wallMs: () => number) {
    this.wallMs = wallMs;
  }

  /** `scheduled`, `started`, … in order of arrival. */
  get changes(): string[] {
    return this.arrivals.map(({ change }) => change);
  }

  /** The CloudEvents in order of arrival. */
  get events(): CloudEvent[] {
    return this.arrivals.map(({ text }) => JSON.parse(text) as CloudEvent);
  }

  /** Makes an arrival, whatever the bridge is told. */
  take({ id, change, partitionKey, bytes }: Delivery, label = ''): void {
    this.arrivals.push({
      id,
      change,
      partitionKey,
      text: new TextDecoder().decode(bytes),
      atMs: this.wallMs(),
      label,
    });
  }
}

/** What tests read of a CloudEvent. */
export interface CloudEvent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly time: string;
  readonly outcome?: string;
  readonly severitytext?: string;
  readonly data: {
    readonly eventId: string;
    readonly eventStatus: string;
    readonly previousStatus: string | null;
    readonly changedFields?: readonly string[];
    readonly since?: string;
    readonly lastDocumentAt?: string | null;
    readonly reason?: string | null;
    readonly approver?: string | null;
    readonly observer: {
      readonly name: string | null;
      readonly vm?: VmMetadata;
      readonly approval?: { readonly approvedBy: readonly string[] };
    };
    readonly [field: string]: unknown;
  };
}

const options = v.strictObject({
  /** Has no effect: for tests of deprecated settings. */
  former: v.exactOptional(v.pipe(v.string(), deprecated({ since: '0.3.0', until: '0.5.0', use: 'sinks.NAME.way' }))),
  inFlight: v.optional(v.number(), 4),
  urgentInFlight: v.exactOptional(v.number()),
  batch: v.optional(v.number(), 1),
  perMinute: v.exactOptional(v.number()),
  /** Another one makes another configuration. */
  label: v.optional(v.string(), ''),
  /** What it says to write. */
  file: v.exactOptional(v.string()),
  /** Whose yes an acceptance that `approves` is, and whether the event is held until then. */
  approve: v.exactOptional(v.string()),
  hold: v.optional(v.boolean(), false),
  /** Acts on events that name this VM alone. */
  ownOnly: v.optional(v.boolean(), false),
  cancel: v.optional(v.boolean(), false),
  closeMs: v.exactOptional(v.number()),
});

const namesOwn: NonNullable<SinkApprover['actsOn']> = ({ resources }, name) =>
  name === null ? null : affects({ resources }, name);

/** The far sides by the sinks' names. */
export class MemorySinks {
  readonly #sides = new Map<string, FarSide>();
  readonly #wallMs: () => number;

  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  side(name: string): FarSide {
    const side = this.#sides.get(name) ?? new FarSide(this.#wallMs);
    this.#sides.set(name, side);
    return side;
  }

  /** The adapter `memory` as one process has it: once `killed` aborts, nothing that it sends arrives. */
  definition(killed: AbortSignal): AdapterDefinition<v.InferOutput<typeof options>> {
    return {
      type: 'memory',
      options,
      approverOf: ({ approve, hold, ownOnly }) =>
        approve === undefined ? null : { name: approve, holds: hold, ...(ownOnly && { actsOn: namesOwn }) },
      cancels: ({ cancel }) => cancel,
      filesOf: ({ file }) => (file === undefined ? [] : [file]),
      create: ({ inFlight, urgentInFlight, batch, perMinute, closeMs, label }, { name, notes, events, secrets }) => {
        const limits = {
          inFlight,
          batch,
          batchBytes: 1024 * 1024,
          ...(urgentInFlight !== undefined && { urgentInFlight }),
          ...(perMinute !== undefined && { perMinute }),
          ...(closeMs !== undefined && { closeMs }),
        };
        const side = this.side(name);
        side.notes = notes;
        side.view = events;
        side.secrets = secrets;
        return memoryAdapter(side, { limits, label }, killed);
      },
    };
  }
}

interface MemoryOptions {
  readonly limits: Adapter['limits'];
  readonly label: string;
}

function memoryAdapter(side: FarSide, { limits, label }: MemoryOptions, killed: AbortSignal): Adapter {
  const running = new Map<number, Omit<RunningWork, 'last'>>();
  return {
    limits,
    check: async () => null,
    running: () => [...running.values()].map((work) => ({ ...work, last: side.last })),
    deliver: async (batch, signal, superseded) => {
      if (killed.aborted) throw dead();
      side.calls += 1;
      for (const { seq, partitionKey, attempts } of batch)
        running.set(seq, { seq, eventId: partitionKey, sinceMs: side.wallMs(), attempt: attempts + 1 });
      const outcomes = await Promise.race([
        side.answer(batch, AbortSignal.any([signal, killed]), superseded),
        rejectedBy(killed),
      ]).finally(() => {
        for (const { seq } of batch) running.delete(seq);
      });
      batch.forEach((row, place) => {
        const outcome = outcomes[place];
        if (!(outcome instanceof BridgeError) || outcome.status === ANSWER_LOST) side.take(row, label);
      });
      return outcomes;
    },
    close: () => (killed.aborted ? undefined : side.close()),
  };
}

function rejectedBy(killed: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (killed.aborted) reject(dead());
    killed.addEventListener('abort', () => reject(dead()), { once: true });
  });
}

function dead(): BridgeError {
  return new BridgeError('BRIDGE_INTERNAL', 'this process was killed', { disposition: 'retry' });
}
