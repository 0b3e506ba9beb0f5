// The contract between the bridge and the kinds of sink: what an adapter takes, does and owes. test/adapters/contract.ts checks it clause by clause.
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { BridgeError } from '../src/errors.ts';
import type { Delivery } from '../src/model.ts';
import type { Schema } from '../src/options.ts';
import type { Deps } from '../src/time.ts';

/** A short text that outlives the process. It is this sink's alone and forgotten when its configuration changes. Both @throw BridgeError BRIDGE_STORE_*. */
export interface AdapterMemory {
  /** What was written last; null where nothing was. */
  read(): string | null;
  /** Null forgets. */
  write(text: string | null): void;
}

/** What the bridge hands to every adapter. */
export interface AdapterDeps extends Deps {
  /** The sink's name in the configuration. */
  readonly name: string;
  /** Already bound to the sink's name. Never give it a secret or a payload. */
  readonly logger: Logger;
  readonly memory: AdapterMemory;
  /** Where data goes; the process's own standard output outside tests. */
  readonly stdout: Writable;
}

/** What is wrong with the value of one key: `url`, `headers.authorization`. */
export interface OptionFault {
  readonly key: string;
  /** Without the value. */
  readonly message: string;
}

/** A kind of sink: folder name = `type` = configuration key = metric label. */
export interface AdapterDefinition<Options> {
  readonly type: string;
  /** Defaults and faults; no I/O. */
  readonly options: Schema<Options>;
  /** What shows in options that fit the schema only once their secrets are open. No I/O. */
  secretFaults?(options: Options): readonly OptionFault[];
  /** What takes loading to judge, such as a template: of options whose secrets are open. It connects to nothing. */
  contentFaults?(options: Options): Promise<readonly OptionFault[]>;
  /** No I/O. @throws BridgeError BRIDGE_CONFIG_INVALID where options that fit the schema cannot work together. */
  create(options: Options, deps: AdapterDeps): Adapter;
}

/** Accepted: durable at the other side. */
export type Outcome = 'accepted' | BridgeError;

export interface AdapterLimits {
  /** Deliveries at once. Order within a partition key is the lane's. */
  readonly inFlight: number;
  /** Members of one batch. */
  readonly batch: number;
  /** Of all members of a batch together. */
  readonly batchBytes: number;
  /** Calls of `deliver` in any 60 s, failed ones too; null: no limit now; absent: never one. The lane keeps it, and asks anew each time. */
  readonly perMinute?: number | null;
}

/** What has to go well before a delivery may begin, such as a handshake. */
export interface Preparation {
  /** May become true again at any time. Cheap: the lane asks before each delivery. */
  readonly isNeeded: boolean;
  /** One at a time, and against no rate. Sends no event. @throws BridgeError as `deliver` would have it as outcome. */
  run(signal: AbortSignal): Promise<void>;
}

export interface Adapter extends AsyncDisposable {
  readonly limits: AdapterLimits;
  /** Absent where a delivery needs none. `deliver` called without it does it by itself. */
  readonly preparation?: Preparation;
  /** Would a delivery be accepted? Sends no event. @returns what is worth telling people besides, null for nothing. @throws BridgeError with what to do. */
  check(signal: AbortSignal): Promise<string | null>;
  /**
   * One outcome for each member, in order. No retry inside. Connects on first use. An abort rejects at once with the signal's reason;
   * everything else, a failure too, is an outcome.
   */
  deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]>;
}
