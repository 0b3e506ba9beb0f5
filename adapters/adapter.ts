// The contract between the bridge and the kinds of sink: what an adapter takes, does and owes. test/adapters/contract.ts checks it clause by clause.
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { BridgeError } from '../src/errors.ts';
import type { Delivery } from '../src/model.ts';
import type { Schema } from '../src/options.ts';
import type { Deps } from '../src/time.ts';

/** What the bridge hands to every adapter. */
export interface AdapterDeps extends Deps {
  /** The sink's name in the configuration. */
  readonly name: string;
  /** Already bound to the sink's name. Never give it a secret or a payload. */
  readonly logger: Logger;
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
  /** No I/O. @throws BridgeError BRIDGE_CONFIG_INVALID where options that fit the schema cannot work together. */
  create(options: Options, deps: AdapterDeps): Adapter;
}

/** Accepted: durable at the other side. */
export type Outcome = 'accepted' | BridgeError;

export interface Adapter extends AsyncDisposable {
  /** Deliveries at once, members and bytes of one batch. Order within a partition key is the lane's. */
  readonly limits: { readonly inFlight: number; readonly batch: number; readonly batchBytes: number };
  /** Would a delivery be accepted? Sends no event. @throws BridgeError with what to do. */
  check(signal: AbortSignal): Promise<void>;
  /**
   * One outcome for each member, in order. No retry inside. Connects on first use. An abort rejects at once with the signal's reason;
   * everything else, a failure too, is an outcome.
   */
  deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly Outcome[]>;
}
