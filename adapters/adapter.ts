// The contract of the sink types: what the bridge gives an adapter, and what it expects of it.
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { BridgeError } from '../src/errors.ts';
import type { Delivery, RunningWork } from '../src/model/deliveries.ts';
import type { ScheduledEvent } from '../src/model/events.ts';
import type { OptionFault } from '../src/schema/faults.ts';
import type { Schema } from '../src/schema/pieces.ts';
import type { Deps } from '../src/time/clock.ts';
import type { ApprovalSourceDefinition } from './approval-source.ts';
import type { SinkChannel } from './channel.ts';

/**
 * A short text that outlives the process. Each sink has its own. It is deleted when the sink's configuration changes;
 * later writes of an adapter with an earlier configuration are ignored. Both methods throw BridgeError BRIDGE_STORE_*.
 */
export interface AdapterMemory {
  /** Returns the last text that was written, or null. */
  read(): string | null;
  /** @param text null deletes it */
  write(text: string | null): void;
}

/**
 * Short texts about single deliveries of this sink, for types that leave something behind if the process is killed,
 * such as a running program.
 */
export interface DeliveryNotes {
  /**
   * Returns all notes in the order of the queue, also those of deliveries that have ended.
   * @throws BridgeError BRIDGE_STORE_*
   */
  all(): readonly { readonly seq: number; readonly text: string }[];
  /**
   * The note survives a kill of the process once this has returned.
   * @param seq identifies the delivery
   * @param text null deletes the note
   * @throws BridgeError BRIDGE_STORE_*
   */
  write(seq: number, text: string | null): void;
}

/** The state of events, apart from the deliveries. */
export interface EventsInView {
  /** Returns this VM's name, or null while it is unknown. */
  ownName(): string | null;
  /**
   * Returns whether an event that is not listed has ended: the bridge is not blind, and this process has read a
   * document that proves absence.
   */
  isInView(): boolean;
  /**
   * Returns whether this bridge ever saw the event. If so, its end has been delivered or will be.
   * @param key the partition key of the event
   * @throws BridgeError BRIDGE_STORE_*
   */
  wasSeen(key: string): boolean;
}

/** The bridge passes these to every adapter. */
export interface AdapterDeps extends Deps {
  /** The sink's name in the configuration. */
  readonly name: string;
  /** Bound to the sink's name. Secrets and payloads must not be logged. */
  readonly logger: Logger;
  readonly memory: AdapterMemory;
  /** The same object for every adapter that the sink gets in this process. */
  readonly notes: DeliveryNotes;
  readonly events: EventsInView;
  /** The folder of the configuration: the base of relative paths in the options. */
  readonly directory: string;
  /** The environment of the process. It may hold secrets: started programs get selected variables only. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns the values of the configuration's secrets. No text that comes from a program may show one. */
  readonly secrets: () => readonly string[];
  /** Receives data; outside tests, it is the standard output of the process. */
  readonly stdout: Writable;
}

/** For a sink that is no longer configured, so its options are unknown. */
export type LeftBehindDeps = Deps & Pick<AdapterDeps, 'logger' | 'notes'>;

/** A file, other than a secret, that decides what a sink does. `check` warns if other users may change it. */
export interface DecisiveFile {
  /** The option that names it, directly or indirectly. */
  readonly key: string;
  /** Absolute. For a folder, `check` warns of users who may create files in it. */
  readonly path: string;
  /** For messages: `program`, `interpreter`. */
  readonly kind: string;
  /** Whether `check` also warns of users who may read it. */
  readonly isSecret?: boolean;
}

/** A sink type. `type` is also the name of its folder, its configuration key and its metric label. */
export interface AdapterDefinition<Options> {
  readonly type: string;
  /** Checks options and adds defaults, without I/O. */
  readonly options: Schema<Options>;
  /**
   * Returns faults that need the values of secrets. The options fit the schema and their secrets are resolved. No I/O.
   */
  secretFaults?(options: Options): readonly OptionFault[];
  /**
   * Returns options that are valid but probably a mistake; `check` warns of them. The options have no faults, and their
   * secrets are resolved. The messages contain no secret. No I/O.
   */
  warnings?(options: Options): readonly OptionFault[];
  /**
   * Returns faults that need a heavy module, such as faults of a template. Secrets are resolved. Opens no connection.
   */
  contentFaults?(options: Options): Promise<readonly OptionFault[]>;
  /**
   * Returns the files that decide what the sink does. Secrets are resolved. Reads files, opens no connection and never
   * rejects.
   */
  decisiveFiles?(options: Options, around: Pick<AdapterDeps, 'directory' | 'env'>): Promise<readonly DecisiveFile[]>;
  /**
   * Returns the absolute paths of the files that the sink writes because of its option `path`. No other sink may write
   * them, and they must not be in the folder of the store.
   * @param directory the base of relative paths
   */
  filesOf?(options: Options, directory: string): readonly string[];
  /**
   * Returns the approver for whom the sink approves, one of `approvals.approvers`, and whether it holds events; null if
   * it cannot approve.
   */
  approverOf?(options: Options): SinkApprover | null;
  /**
   * Returns whether a delivery ends early if its event has changed, started or ended since (behaviour 10.4).
   * `superseded` then aborts.
   */
  cancels?(options: Options): boolean;
  /**
   * Ends programs that a killed process left running for a sink that was removed or has another type now. Never
   * rejects.
   */
  endLeftBehind?(deps: LeftBehindDeps): Promise<void>;
  /**
   * `Adapter.check` uses this machine only. The verb `check` therefore calls it even without `--connect`, and reports
   * failures as warnings.
   */
  readonly isLocal?: true;
  /** No I/O. @throws BridgeError BRIDGE_CONFIG_INVALID if options that fit the schema contradict each other */
  create(options: Options, deps: AdapterDeps): Adapter;
  /**
   * Returns the way of the CloudEvents to their readers, for types that send to a broker or URL. Secrets are resolved.
   * No I/O.
   */
  channel?(options: Options): SinkChannel;
  /** For brokers, from which approvals can be received. */
  readonly source?: ApprovalSourceDefinition<unknown>;
}

/** The approver for whom a sink approves: its keys `approve` and `hold`. */
export interface SinkApprover {
  readonly name: string;
  readonly holds: boolean;
  /**
   * Returns whether the sink acts on an event that it receives, or null while that is unknown. Absent: it acts on every
   * event. It does not hold an event on which it does not act, because it would never approve it.
   * @param ownName the name of this VM, or null while unknown
   */
  readonly actsOn?: (event: Pick<ScheduledEvent, 'eventId' | 'resources'>, ownName: string | null) => boolean | null;
}

/** Accepted, with details that are stored in the same transaction. */
export interface Acceptance {
  readonly result: 'accepted';
  /** A status for the journal, such as `superseded`. */
  readonly status?: string;
  /** The delivery approves this CloudEvent for the sink's approver. */
  readonly approves?: boolean;
}

/** Accepted means that the receiver has stored it, or that the action is done. */
export type Outcome = 'accepted' | Acceptance | BridgeError;

export interface AdapterLimits {
  /** The maximum number of concurrent deliveries. The lane keeps the order within a partition key. */
  readonly inFlight: number;
  /**
   * Extra concurrent deliveries, for events with less than 2 min of notice if `inFlight` is used up. Default 0. For
   * types with a low `inFlight`.
   */
  readonly urgentInFlight?: number;
  /** The maximum number of deliveries in a batch. */
  readonly batch: number;
  /** The maximum total size of a batch, in bytes. */
  readonly batchBytes: number;
  /**
   * The maximum number of calls of `deliver` in any 60 s, failed ones included. Null: no limit at present; absent: no
   * limit ever. The lane reads it before each call.
   */
  readonly perMinute?: number | null;
  /** The time limit of one call of `deliver`, in milliseconds. Default 5 min. */
  readonly callMs?: number;
  /**
   * The time limit of `close`, in milliseconds. Default 2 s. More than 8 s counts as 8 s, so that the bridge stops
   * within 16 s.
   */
  readonly closeMs?: number;
}

/** A step that must succeed before a delivery may begin, such as a handshake. */
export interface Preparation {
  /** May become true again at any time. Must be cheap: the lane reads it before each delivery. */
  readonly isNeeded: boolean;
  /**
   * Called once at a time; does not count towards `perMinute`. Sends no event.
   * @throws BridgeError that would also be the outcome of `deliver`
   */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Implemented by each sink type. src/delivery/managed-adapter.ts adds the rest: it handles signals that are already
 * aborted, rejects with the signal's reason after an abort, refuses calls after the sink is closed, and calls `close`.
 */
export interface Adapter {
  readonly limits: AdapterLimits;
  /** Absent if a delivery needs no preparation. If this was not called, `deliver` prepares by itself. */
  readonly preparation?: Preparation;
  /**
   * Ends what a previous process left behind. Called once, when the lane starts, even if there is nothing to deliver.
   * Calls of the adapter of an earlier configuration may still run. Never rejects.
   */
  start?(): Promise<void>;
  /**
   * Checks if a delivery would be accepted. Sends no event.
   * @returns a note for the operator, or null
   * @throws BridgeError whose message says what to do
   */
  check(signal: AbortSignal): Promise<string | null>;
  /**
   * Connects on first use and does not retry. Rejects at once after an abort; `close` then ends what still runs.
   * @param superseded for types that cancel, whose batches have one member. It aborts if the delivery is obsolete. The
   * call then resolves with an acceptance `superseded` as soon as nothing of the delivery runs.
   * @returns one outcome for each delivery, in order
   * @throws BridgeError that is the outcome of all deliveries
   */
  deliver(batch: readonly Delivery[], signal: AbortSignal, superseded?: AbortSignal): Promise<readonly Outcome[]>;
  /** Returns the deliveries that it works on now. For types whose deliveries take long. No I/O. */
  running?(): readonly RunningWork[];
  /** Called once, after all calls have ended. Opens nothing. */
  close(): void | Promise<void>;
}
