// The contract of the kinds of sink: what an adapter takes, does and owes (test/adapters/contract).

import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { BridgeError } from '../src/errors.ts';
import type { Delivery } from '../src/model/deliveries.ts';
import type { ScheduledEvent } from '../src/model/events.ts';
import type { OptionFault } from '../src/schema/faults.ts';
import type { Schema } from '../src/schema/pieces.ts';
import type { Deps } from '../src/time/clock.ts';
import type { ApprovalSourceDefinition } from './approval-source.ts';

/**
 * A short text that outlives the process. It is this sink's alone and forgotten when its configuration changes: what an adapter of the
 * configuration before writes then is ignored. Both @throw BridgeError BRIDGE_STORE_*.
 */
export interface AdapterMemory {
  /** What was written last; null where nothing was. */
  read(): string | null;
  /** Null forgets. */
  write(text: string | null): void;
}

/** Short texts about single deliveries of this sink, for a kind whose deliveries leave something behind where the process is killed, such as a running program. */
export interface DeliveryNotes {
  /** Every note that stands, in the order of the queue; also of deliveries that have ended meanwhile. @throws BridgeError BRIDGE_STORE_* */
  all(): readonly { readonly seq: number; readonly text: string }[];
  /** Durable against a kill of the process when it returns. Null forgets. @param seq the delivery's @throws BridgeError BRIDGE_STORE_* */
  write(seq: number, text: string | null): void;
}

/** What the bridge knows of events beyond the deliveries. */
export interface EventsInView {
  /** This VM's name; null while unknown. */
  ownName(): string | null;
  /** Whether what no document lists is over: the bridge is not blind, and this process has read a document that an absence from proves something. */
  isInView(): boolean;
  /** Whether this bridge ever saw the event, so that its end was, is or will be delivered. @param key its partition key @throws BridgeError BRIDGE_STORE_* */
  wasSeen(key: string): boolean;
}

/** What the bridge hands to every adapter. */
export interface AdapterDeps extends Deps {
  /** The sink's name in the configuration. */
  readonly name: string;
  /** Already bound to the sink's name. Never give it a secret or a payload. */
  readonly logger: Logger;
  readonly memory: AdapterMemory;
  /** The same object for every adapter that the sink gets in this process. */
  readonly notes: DeliveryNotes;
  readonly events: EventsInView;
  /** What relative paths of the options start from: the folder of the configuration. */
  readonly directory: string;
  /** The environment of the process, of which a program that is started inherits a little. Never hand it on whole: it may hold secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where data goes; the process's own standard output outside tests. */
  readonly stdout: Writable;
}

/** Of a sink that is no longer configured: its options are not known any more. */
export type LeftBehindDeps = Deps & Pick<AdapterDeps, 'logger' | 'notes'>;

/** A file of a sink, beside its secrets, whose content decides what is done: who else may change it is told. */
export interface DecisiveFile {
  /** The option that leads to it. */
  readonly key: string;
  /** Absolute; of a folder, those who may make files in it count. */
  readonly path: string;
  /** For people: `program`, `interpreter`. */
  readonly kind: string;
  /** Whether who may read it is told, too. */
  readonly isSecret?: boolean;
}

/** A kind of sink: folder name = `type` = configuration key = metric label. */
export interface AdapterDefinition<Options> {
  readonly type: string;
  /** Defaults and faults; no I/O. */
  readonly options: Schema<Options>;
  /** What shows in options that fit the schema only once their secrets are open. No I/O. */
  secretFaults?(options: Options): readonly OptionFault[];
  /** What is valid and probably not meant: `check` warns of it. Of options without a fault, whose secrets are open; the messages hold no value of theirs. No I/O. */
  warnings?(options: Options): readonly OptionFault[];
  /** Faults that take a heavy module to find, such as those of a template. The options' secrets are open; nothing is connected to. */
  contentFaults?(options: Options): Promise<readonly OptionFault[]>;
  /** The options' secrets are open. Looks at files, connects to nothing, and never rejects. */
  decisiveFiles?(options: Options, around: Pick<AdapterDeps, 'directory' | 'env'>): Promise<readonly DecisiveFile[]>;
  /** The files that its option `path` makes it write, by absolute paths: no other sink may have one of them, and none may lie in the store. Relative ones start from `directory`. */
  filesOf?(options: Options, directory: string): readonly string[];
  /** Whose yes an acceptance that `approves` is, and whether the event is held until that yes; null: nobody's. The name is one of `approvals.approvers`. */
  approverOf?(options: Options): SinkApprover | null;
  /** Whether a delivery is over where its event has changed, started or ended since (behaviour 10.4): `overtaken` aborts then. */
  cancels?(options: Options): boolean;
  /** Ends what deliveries of a sink left running that is no more, or is of another kind now, where the process was killed. Never rejects. */
  endLeftBehind?(deps: LeftBehindDeps): Promise<void>;
  /** `check` of its adapters looks at this machine alone, so that the verb `check` does it without `--connect`, too, and warns. */
  readonly isLocal?: true;
  /** No I/O. @throws BridgeError BRIDGE_CONFIG_INVALID where options that fit the schema cannot work together. */
  create(options: Options, deps: AdapterDeps): Adapter;
  /** Where approvals can come from, for brokers. */
  readonly source?: ApprovalSourceDefinition<unknown>;
}

/** A sink speaks for an approver: its keys `approve` and `hold`. */
export interface SinkApprover {
  readonly name: string;
  readonly holds: boolean;
  /**
   * Whether it acts on an event that it is sent; null where that cannot be told yet; absent: on each. It holds none on which it does not act,
   * since it will never say yes to it. @param ownName this VM's; null while unknown
   */
  readonly actsOn?: (event: Pick<ScheduledEvent, 'eventId' | 'resources'>, ownName: string | null) => boolean | null;
}

/** Accepted, and more is to be stored with it, in the same transaction. */
export interface Acceptance {
  readonly result: 'accepted';
  /** What the journal shows beside the delivery, as `superseded`; absent: nothing. */
  readonly status?: string;
  /** It is the yes of the sink's approver to this CloudEvent. */
  readonly approves?: boolean;
}

/** Accepted: durable at the other side, or done. */
export type Outcome = 'accepted' | Acceptance | BridgeError;

export interface AdapterLimits {
  /** Deliveries at once. Order within a partition key is the lane's. */
  readonly inFlight: number;
  /** So many more for deliveries of events with less than 2 min of notice, where every place is taken; absent: none. For kinds with few places. */
  readonly urgentInFlight?: number;
  /** Members of one batch. */
  readonly batch: number;
  /** Of all members of a batch together. */
  readonly batchBytes: number;
  /** Calls of `deliver` allowed in any 60 s, failed ones included; null: no limit now; absent: never one. The lane enforces it, and asks each time. */
  readonly perMinute?: number | null;
  /** How long one call of `deliver` may take, in milliseconds; absent: 5 min. */
  readonly callMs?: number;
  /** How long `close` may take to end what aborted calls left behind, in milliseconds; absent: 2 s. At most 8 s, so that a stop takes 16 s; more counts as 8 s. */
  readonly closeMs?: number;
}

/** What has to go well before a delivery may begin, such as a handshake. */
export interface Preparation {
  /** May become true again at any time. Cheap: the lane asks before each delivery. */
  readonly isNeeded: boolean;
  /** One at a time, and against no rate. Sends no event. @throws BridgeError as `deliver` would have it as outcome. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * What a kind of sink implements. The engine adds the rest (src/delivery/managed-adapter.ts): it answers signals that have aborted before,
 * makes every rejection after an abort the signal's reason, refuses work once the sink is closed, and calls `close`.
 */
export interface Adapter {
  readonly limits: AdapterLimits;
  /** Absent where a delivery needs no preparation. `deliver` prepares itself where this was not called. */
  readonly preparation?: Preparation;
  /**
   * Called once, when the lane begins, also where it delivers nothing, and while calls of the adapter of an earlier configuration may still
   * run. Ends what a former process left behind. Never rejects.
   */
  start?(): Promise<void>;
  /** Would a delivery be accepted? Sends no event. @returns what is worth telling people besides, null for nothing. @throws BridgeError with what to do. */
  check(signal: AbortSignal): Promise<string | null>;
  /**
   * One outcome for each member, in order. No retry inside. Connects on first use. Rejects at once after an abort; what then still has to
   * end is ended by `close`. `overtaken`, of kinds that cancel, whose batches have one member: it is not to be done any more, and the call
   * resolves with an acceptance `superseded` once nothing of it runs.
   * @throws BridgeError that is the outcome of all members
   */
  deliver(batch: readonly Delivery[], signal: AbortSignal, overtaken?: AbortSignal): Promise<readonly Outcome[]>;
  /** Called once, after all that ran has ended. Opens nothing. */
  close(): void | Promise<void>;
}
